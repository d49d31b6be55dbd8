import { assertEquals, assertRejects } from "@std/assert";
import { MatrixRequestError, ValueError } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import { begin, ENCRYPTED } from "../client/support/encrypted_room.ts";
import { clientStage } from "../client/support/stage.ts";
import { EVERYBODY } from "../support/everybody.ts";

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

Deno.test("To an encrypted room goes later what is never encrypted: reactions, unless the client encrypts them", async () => {
  await using here = clientStage();
  const alice = here.client("alice", { encryption: EVERYBODY });
  await begin(here, alice);
  const roomId = await alice.createRoom({ initialState: ENCRYPTED });
  const event_id = await alice.sendText(roomId, "Curtain up");
  const content = { "m.relates_to": { rel_type: "m.annotation", event_id, key: "👏" } } as const;
  const later = () => alice.createDelayedEvent(roomId, "m.reaction", content, { delay: 1_000 });
  const reacted = Promise.withResolvers<string>();
  alice.on("m.reaction", ({ content }) => reacted.resolve(content["m.relates_to"].key));
  await later();
  await here.clock.tick(1_000);
  assertEquals(await reacted.promise, "👏");
  alice.encryptionBlacklist.delete("m.reaction");
  await assertRejects(later, EncryptionError, "it is encrypted when it leaves");
});
