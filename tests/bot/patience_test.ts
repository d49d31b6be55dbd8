import { assertEquals, assertRejects } from "@std/assert";
import { TestClock } from "@greenroom/matrix/testing";
import { systemClock } from "../../src/base/clock.ts";
import { Patience } from "../../src/bot/patience.ts";
import { RunTime } from "../../src/bot/run_time.ts";

const newTime = (): RunTime => new RunTime(new AbortController().signal);

// The test runner itself would find the timer.
Deno.test("Work that has ended leaves no timer behind", async () => {
  const patience = new Patience(systemClock, 600_000);
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
