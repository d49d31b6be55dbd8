import { assertEquals, assertRejects } from "@std/assert";
import { sequentialIds, TestClock } from "@greenroom/matrix/testing";

Deno.test("TestClock.tick() ends waits in the order of their times, and new ones within the same call", async () => {
  const clock = new TestClock(1000);
  const log: string[] = [];
  const late = clock.delay(20).then(() => log.push(`late ${clock.now()}`));
  const early = clock.delay(10).then(async () => {
    log.push(`early ${clock.now()}`);
    await clock.delay(5);
    log.push(`again ${clock.now()}`);
  });
  await clock.tick(20);
  assertEquals(log, ["early 1010", "again 1015", "late 1020"]);
  assertEquals([clock.now(), clock.pending], [1020, 0]);
  await Promise.all([late, early]);
});

Deno.test("TestClock.delay() rejects with the reason of its signal, before and during the wait", async () => {
  const clock = new TestClock();
  const controller = new AbortController();
  const wait = clock.delay(1000, { signal: controller.signal });
  controller.abort(new Error("stop"));
  await assertRejects(() => wait, Error, "stop");
  await assertRejects(() => clock.delay(1, { signal: controller.signal }), Error, "stop");
  assertEquals(clock.pending, 0);
});

Deno.test("TestClock.delay() of nothing ends without a tick", async () => {
  await new TestClock().delay(0);
});

Deno.test("sequentialIds() counts each kind on its own, in the length that is asked for", () => {
  const ids = sequentialIds("t");
  assertEquals(ids.next("event", 12), "tevent000001");
  assertEquals(ids.next("event", 12), "tevent000002");
  assertEquals(ids.next("device", 10), "TDEVICE001");
});
