import { assertEquals, assertRejects } from "@std/assert";
import { MatrixRequestError, ValueError } from "@greenroom/matrix";
import { clientStage } from "../client/support/stage.ts";

Deno.test("An event is sent when its delay is over, and one that was restarted later", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const roomId = await alice.createRoom();
  const topic = (delay: number, text: string) =>
    alice.createDelayedEvent(roomId, "m.room.topic", { topic: text }, { delay, stateKey: "" });
  await topic(1_000, "first");
  const second = await topic(1_500, "second");
  await here.clock.tick(1_000);
  assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "first");
  await alice.restartDelayedEvent(second);
  await here.clock.tick(1_000);
  assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "first");
  await here.clock.tick(500);
  assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "second");
  assertEquals(await alice.listDelayedEvents(), []);
});

Deno.test("A delay that is none, or too long, is refused", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const roomId = await alice.createRoom();
  const later = (options: object) =>
    alice.createDelayedEvent(roomId, "m.room.message", { msgtype: "m.text", body: "a" }, options as never);
  await assertRejects(() => later({}), ValueError, "no delay");
  await assertRejects(() => later({ delay: 0 }), ValueError, "at least 1");
  await assertRejects(() => later({ delay: 86_400_001 }), MatrixRequestError, "DELAY_TOO_LARGE");
});
