import { assert, assertEquals } from "@std/assert";
import type { MessageEvent } from "@greenroom/matrix";
import { type ClientStage, clientStage, heard } from "./support/stage.ts";

const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };

/** Two users in an encrypted room, syncing. */
async function twoInARoom(stage: ClientStage) {
  const alice = stage.client("alice", { encryption: true });
  const bob = stage.client("bob", { encryption: true });
  alice.start();
  bob.start();
  await stage.settle();
  const roomId = await alice.createRoom({
    invitees: ["@bob:localhost"],
    initialState: [{ type: "m.room.encryption", state_key: "", content: MEGOLM }],
  });
  await bob.joinRoom(roomId);
  await stage.settle();
  return { alice, bob, roomId };
}

Deno.test("Two clients talk in an encrypted room, and the server sees nothing of it", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const events: MessageEvent[] = [];
  bob.on("m.room.message", (event) => void events.push(event as MessageEvent));
  const texts = heard(alice);
  await alice.sendText(roomId, "Break a leg");
  await stage.until(() => events.length === 1);
  await bob.sendText(roomId, "Thank you");
  await stage.until(() => texts.includes("Thank you"));
  assertEquals(events[0]?.content.body, "Break a leg");
  assertEquals(events[0]?.encryption?.senderTrust, "unsigned-device");
  assertEquals(events[0]?.encryption?.senderDevice, alice.deviceId);
  const { chunk } = await bob.getMessages(roomId, "b", undefined, { limit: 2 });
  assertEquals(chunk.map(({ type }) => type), ["m.room.encrypted", "m.room.encrypted"]);
  assert(!JSON.stringify(chunk).includes("Break a leg"));
});
