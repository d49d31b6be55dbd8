import { assert, assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import { read, sceneTest } from "../support/scene.ts";

sceneTest(
  "S57 A message that comes in clear into an encrypted room is ignored, and reported",
  async (scene) => {
    const { ours, peers } = scene;
    const trusting = await scene.witness(undefined, { encryption: { unencrypted: "deliver" } });
    const reported: string[] = [];
    ours.client.on("UNENCRYPTED", ({ event }) => void reported.push(event.event_id));
    const roomId = await scene.room();
    await ours.client.inviteUser(roomId as RoomID, trusting.userId);
    await trusting.joinInvited(roomId);
    const clear: string[] = [];
    for (const peer of peers) {
      await peer.member(roomId, trusting.userId);
      await peer.awaitDevice(trusting.userId, trusting.deviceId);
      const eventId = await peer.sendClear(roomId, "m.room.message", { msgtype: "m.text", body: "!pay" });
      const after = await peer.sendText(roomId, "encrypted");
      await read([ours, trusting], after, "encrypted");
      const heard = await trusting.message((message) => message.eventId === eventId);
      assert(!heard.encrypted);
      clear.push(eventId);
    }
    assertEquals(reported, clear);
    assertEquals(ours.seen.filter((event) => "eventId" in event && clear.includes(event.eventId)), []);
  },
);

sceneTest("S57 Peers see that what we were told to send in clear came in clear", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room();
  const eventId = await ours.client.sendText(roomId as RoomID, "clear", { disableEncryption: true });
  for (const peer of peers) {
    const heard = await peer.message((message) => message.eventId === eventId);
    assertEquals([heard.body, heard.encrypted], ["clear", false]);
  }
  await scene.talk(roomId);
});
