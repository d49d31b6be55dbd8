import { assertEquals, assertRejects } from "@std/assert";
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
