/** Encryption is removed or weakened. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { ROOM, stateEvent } from "../../sharing/room.ts";
import { Stage } from "../../sharing/stage.ts";

const weaker = [
  {},
  { algorithm: "m.none" },
  { algorithm: "m.megolm.v2", rotation_period_msgs: 1e9 },
  { algorithm: "m.megolm.v1.aes-sha2", rotation_period_ms: 1e9, rotation_period_msgs: 1e9 },
  { algorithm: "m.megolm.v1.aes-sha2", rotation_period_ms: 1e300, rotation_period_msgs: Number.MAX_VALUE },
  { algorithm: null, rotation_period_ms: null, rotation_period_msgs: "1e9" },
  { algorithm: ["m.megolm.v1.aes-sha2"], rotation_period_ms: -1, rotation_period_msgs: -1 },
];

for (const content of weaker) {
  Deno.test(`T40: a room stays encrypted, with tight limits, whatever ${JSON.stringify(content)} says`, async () => {
    const stage = await Stage.open();
    stage.room.encryption = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 3 };
    const first = await stage.send();
    await stage.sync([stateEvent("m.room.encryption", content)]);
    await stage.restart();
    stage.room.encryption = content; // the server tells it when asked, too
    assert(stage.rooms.isEncrypted(ROOM));
    const sessions = [first.session_id];
    for (let count = 1; count < 4; count++) sessions.push((await stage.send()).session_id);
    assertEquals(new Set(sessions).size, 2);
    assertNotEquals(sessions[2], sessions[3]);
    const before = await stage.session();
    await stage.clock.tick(604_800_000);
    assertNotEquals(await stage.session(), before);
  });
}

Deno.test("T40: a room that begins with wide limits is held to the widest there are", async () => {
  const stage = await Stage.open();
  stage.room.encryption = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 1e9 };
  await stage.describe();
  const settings = stage.rooms.settings(ROOM);
  assertEquals(settings?.rotationPeriodMsgs, 10_000);
});
