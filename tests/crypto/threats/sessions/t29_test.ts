/** A key request under a device ID with other keys (CVE-2021-40823, CVE-2021-40824). */

import { assertEquals } from "@std/assert";
import { OutboundSessions } from "../../../../src/crypto/sharing/mod.ts";
import { writeShares } from "../../../../src/crypto/sharing/share_records.ts";
import { Asker } from "../../requests/asker.ts";
import { ALICE, ME, newDevice, ROOM, Sender } from "../../megolm/support.ts";

for (const [whose, userId] of [["another user", ALICE], ["the own user", ME]] as const) {
  Deno.test(`T29: a device of ${whose} that has other keys than it was given a session with is not given it again`, async () => {
    const asker = new Asker({ policy: { answerKeyRequests: true } });
    // Who has had which key is read from the records of what was shared.
    asker.sharedAt = (...asked) => OutboundSessions.prototype.sharedAt.apply(undefined as never, asked);
    const { own } = asker.context;
    const session = new Sender(asker, { ...newDevice(asker, ME), ...own, trust: "verified" });
    const { session_key: sessionKey } = session.roomKey;
    const device = asker.devices.put(newDevice(asker, userId, { trust: "unsigned" }));
    const { deviceId, curve25519 } = device;
    await asker.step(async (tx) => {
      await asker.inbound.addOwn(tx, { roomId: ROOM, sessionKey, sharedHistory: false });
      const { sessionId } = session;
      const record = {
        sessionId,
        state: new Uint8Array(),
        createdAt: 0,
        messages: 0,
        sharedHistory: false,
        policy: "all" as const,
        rosterPieces: 0,
        retired: [],
      };
      const share = { deviceId, kind: "key" as const, curve25519, index: 0, wedging: 0, at: 0 };
      await writeShares(tx, { roomId: ROOM, record }, [{ device, share }]);
    });

    asker.devices.put({ ...device, curve25519: newDevice(asker, userId).curve25519 });
    await asker.ask(device, session);
    assertEquals((await asker.sent()).filter(([type]) => type === "m.room.encrypted"), []);

    asker.devices.put(device);
    await asker.ask(device, session);
    assertEquals((await asker.sent()).map(([type]) => type), ["m.room.encrypted"]);
  });
}
