import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { Turns } from "../../src/base/runs.ts";

Deno.test("Turns.take() begins a piece of work when those before it have ended", async () => {
  const turns = new Turns();
  const happened: string[] = [];
  const first = Promise.withResolvers<void>();
  const done = [
    turns.take(async () => {
      happened.push("first begins");
      await first.promise;
      happened.push("first ends");
    }),
    turns.take(() => void happened.push("second")),
  ];
  await Promise.resolve();
  assertEquals(happened, ["first begins"]);
  first.resolve();
  await Promise.all(done);
  assertEquals(happened, ["first begins", "first ends", "second"]);
});

Deno.test("Turns.take() passes on what the work throws, and goes on with the next", async () => {
  const turns = new Turns();
  const failing = turns.take(() => {
    throw new RangeError("too much");
  });
  const next = turns.take(() => 5);
  await assertRejects(() => failing, RangeError, "too much");
  assertEquals(await next, 5);
});

Deno.test("Turns.take() begins at once where nothing is under way", async () => {
  const turns = new Turns();
  let hasBegun = false;
  const done = turns.take(() => void (hasBegun = true));
  assertEquals([hasBegun, turns.isIdle], [true, false]);
  await done;
  assert(turns.isIdle);
});

Deno.test("Turns.take() lets work about one thing wait for no other", async () => {
  const turns = new Turns<string>();
  const happened: string[] = [];
  const first = Promise.withResolvers<void>();
  const all = [
    turns.take(() => first.promise, { of: "a" }),
    turns.take(() => void happened.push("second of a"), { of: "a" }),
    turns.take(() => void happened.push("first of b"), { of: "b" }),
  ];
  await all[2];
  assertEquals(happened, ["first of b"]);
  first.resolve();
  await turns.settled();
  assertEquals(happened, ["first of b", "second of a"]);
});

Deno.test("Turns.take() ends a wait with its signal, and those behind wait for those before", async () => {
  const turns = new Turns();
  const happened: string[] = [];
  const given = new AbortController();
  const { signal } = given;
  const first = Promise.withResolvers<void>();
  const all = [turns.take(() => first.promise.then(() => void happened.push("first")))];
  const leaving = ["second", "third"].map((name) => turns.take(() => void happened.push(name), { signal }));
  given.abort(new RangeError("enough"));
  for (const each of leaving) await assertRejects(() => each, RangeError, "enough");
  assert(!turns.isIdle);
  all.push(turns.take(() => void happened.push("fourth")));
  const last = new AbortController();
  const late = turns.take(() => void happened.push("late"), { signal: last.signal });
  last.abort(new RangeError("too late"));
  await assertRejects(() => late, RangeError, "too late");
  assertEquals(happened, []);
  first.resolve();
  await Promise.all(all);
  await turns.settled();
  assertEquals(happened, ["first", "fourth"]);
  assert(turns.isIdle);
});

Deno.test("Turns.keep() takes a turn that begins later, and lasts until it is ended, begun or not", async () => {
  const turns = new Turns();
  const happened: string[] = [];
  const given = new AbortController();
  const [first, second] = [turns.keep(), turns.keep({ signal: given.signal })];
  const third = turns.take(() => void happened.push("third"));
  assertFalse(await first.begun());
  given.abort(new RangeError("enough"));
  await assertRejects(() => second.begun(), RangeError, "enough");
  second.end();
  await Promise.resolve();
  assertEquals([happened, turns.isIdle], [[], false]);
  first.end();
  await third;
  const fourth = turns.keep();
  const fifth = turns.keep();
  const begun = fifth.begun();
  fourth.end();
  assert(await begun);
  fifth.end();
  await turns.settled();
});
