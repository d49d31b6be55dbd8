import { assert, assertEquals } from "@std/assert";
import { alarm, systemClock } from "../../src/base/clock.ts";
import type { Clock } from "@greenroom/matrix";
import { TestClock } from "@greenroom/matrix/testing";

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

Deno.test("Alarms of the machine's clock ring in the order in which they are due, whichever was set first", async () => {
  const rung: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const never = alarm(systemClock, 60_000, () => rung.push("never"));
  let ends: (() => void)[] = [];
  let begun: number;
  do { // until they are set within the time that their order hangs on
    for (const end of ends) end();
    begun = performance.now();
    ends = [
      alarm(systemClock, 30, () => (rung.push("last"), resolve())),
      alarm(systemClock, 3, () => rung.push("late")),
      alarm(systemClock, 3, () => rung.push("ended")),
      alarm(systemClock, 1, () => rung.push("early")),
    ];
  } while (performance.now() - begun >= 1);
  ends[2]?.();
  const busy = performance.now() + 4; // so that two are due when the first can ring
  while (performance.now() < busy);
  await promise;
  never();
  assertEquals(rung, ["early", "late", "last"]);
});

Deno.test("An alarm of the machine's clock can end another that is due with it", async () => {
  const rung: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  alarm(systemClock, 1, () => (other(), rung.push("one")));
  const other = alarm(systemClock, 1, () => rung.push("other"));
  alarm(systemClock, 2, resolve);
  await promise;
  assertEquals(rung, ["one"]);
});

Deno.test("An alarm of the machine's clock that is set when another rings rings too", async () => {
  await new Promise<void>((ring) => alarm(systemClock, 1, () => alarm(systemClock, 1, ring)));
});

Deno.test("An alarm of the machine's clock rings also if the timer of an earlier one has run out for nothing", async () => {
  alarm(systemClock, 1, () => {})();
  await systemClock.delay(5);
  await new Promise<void>((ring) => alarm(systemClock, 1, ring));
});

Deno.test("A process stays alive until its waits are over, and not for aborted or idle ones", async () => {
  const clock = new URL("../../src/base/clock.ts", import.meta.url);
  const script = `
    import { alarm, idleDelay, systemClock } from ${JSON.stringify(clock.href)};
    alarm(systemClock, 60_000, () => {})();
    alarm(systemClock, 10, () => console.log("rang"));
    alarm(systemClock, 3_600_000, () => {})();
    idleDelay(5_000).then(() => console.log("late"));`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", script],
    cwd: new URL("..", import.meta.url),
  }).output();
  assertEquals(new TextDecoder().decode(stdout), "rang\n");
});
