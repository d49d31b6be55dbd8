import { assert, assertEquals } from "@std/assert";
import { alarm, type Clock, systemClock } from "../src/clock.ts";
import { TestClock } from "../src/testing/test_clock.ts";

Deno.test("alarm() calls back when its time has come, and not when it was ended before", async () => {
  const clock = new TestClock();
  const rung: string[] = [];
  alarm(clock, 1_000, () => rung.push("rings"));
  const end = alarm(clock, 1_000, () => rung.push("ended"));
  await clock.tick(999);
  assertEquals([rung, clock.pending], [[], 2]);
  end();
  await clock.tick(1);
  assertEquals([rung, clock.pending], [["rings"], 0]);
  end();
});

Deno.test("alarm() of the machine's clock calls back, and holds no timer when it was ended", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ends = [alarm(systemClock, 60_000, () => {}), alarm(systemClock, 2 ** 40, () => {})];
  const end = alarm(systemClock, 1, resolve);
  await promise;
  for (const each of [end, ...ends]) each(); // the sanitizers see to it that this ends the timers
});

Deno.test("alarm() of the machine's clock does not ring early because its time is longer than a timer's", async () => {
  let early = false;
  const end = alarm(systemClock, 2 ** 31, () => early = true);
  await systemClock.delay(5);
  end();
  assert(!early);
});

Deno.test("alarm() works with any clock that has now() and delay()", async () => {
  const own: Clock = { now: () => 0, delay: () => Promise.resolve() };
  await new Promise<void>((ring) => alarm(own, 1_000, ring));
});
