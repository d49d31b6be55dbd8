import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { TestClock } from "@greenroom/matrix/testing";
import { systemClock } from "../../src/base/clock.ts";
import { InviteLimiter, RateLimiter } from "../../src/bot/policy/policy.ts";
import { Patience, RunTime } from "../../src/bot/run/mod.ts";

const newTime = (): RunTime => new RunTime(new AbortController().signal);

// The test runner itself would find the timer.
Deno.test("Work that has ended leaves no timer behind", async () => {
  const patience = new Patience(systemClock);
  for (let round = 0; round < 2; round++) {
    await Promise.all([1, 2].map(() => patience.until(Promise.resolve(), newTime())));
  }
});

Deno.test("Each work has its whole time, whatever began or ended before", async () => {
  const clock = new TestClock();
  const patience = new Patience(clock, 1_000);
  const never = new Promise<void>(() => {});
  const givenUp: string[] = [];
  const watch = async (name: string): Promise<void> => {
    await assertRejects(() => patience.until(never, newTime()), Error, "took more than 1000 ms");
    givenUp.push(name);
  };
  const all = [watch("first")];
  await clock.tick(600);
  all.push(watch("second"));
  await clock.tick(400);
  assertEquals(givenUp, ["first"]);
  await patience.until(Promise.resolve(), newTime());
  await clock.tick(599);
  assertEquals(givenUp, ["first"]);
  await clock.tick(1);
  assertEquals(givenUp, ["first", "second"]);
  await Promise.all(all);
  assertEquals(clock.pending, 0);
});

Deno.test("A clock that has ended is not asked again and again", async () => {
  let asked = 0;
  const over = new Promise<void>(() => {});
  const patience = new Patience({
    now: () => 0,
    delay: () => ++asked > 100 ? over : Promise.reject(new Error("the process has ended")),
  }, 1_000);
  const work = Promise.withResolvers<void>();
  const waiting = patience.until(work.promise, newTime());
  for (let turn = 0; turn < 1_000; turn++) await Promise.resolve();
  work.resolve();
  await waiting;
  assertEquals(asked, 1);
});

Deno.test("Of work that has not ended after 30 seconds is told once, and it is given up in its time", async () => {
  const clock = new TestClock();
  const slow: number[] = [];
  const patience = new Patience(clock, undefined, () => void slow.push(clock.now()));
  const begin = clock.now();
  const never = assertRejects(
    () => patience.until(new Promise(() => {}), newTime()),
    Error,
    "took more than",
  );
  await clock.tick(10_000);
  const work = Promise.withResolvers<void>();
  const quick = patience.until(work.promise, newTime());
  const late = patience.until(new Promise(() => {}), newTime()).catch(() => {});
  await clock.tick(19_999);
  work.resolve();
  await quick;
  assertEquals(slow, []);
  await clock.tick(1);
  await clock.tick(600_000);
  await Promise.all([never, late]);
  assertEquals(slow.map((at) => at - begin), [30_000, 40_000]);
  assertEquals(clock.pending, 0);
});

Deno.test("A time that is none is refused with what was given, and how times are written", () => {
  assertThrows(
    () => new Patience(systemClock, "30x"),
    ValueError,
    'handlerTimeout is "30x"; write it like "30m", or in milliseconds',
  );
  assertThrows(
    () => new RateLimiter({ count: 5, window: "10 parsecs" }),
    ValueError,
    'a window like "10m", or in milliseconds, and is "10 parsecs"',
  );
  assertThrows(
    () => new InviteLimiter({ window: "10 parsecs" }),
    ValueError,
    'a window like "10m", or in milliseconds, and is "10 parsecs"',
  );
});
