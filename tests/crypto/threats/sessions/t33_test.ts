/** A key for a known session, with a ratchet that does not belong to it. */

import { assertEquals } from "@std/assert";
import { knownSender, MALLORY, newDevice, Receiver, ROOM, told } from "../../megolm/support.ts";

Deno.test("T33: a ratchet that does not connect to the known one is discarded, whatever its sender", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  using session = receiver.context.vodozemac.megolm.createInbound(sender.roomKey.session_key);
  // An exported key is not signed: version, index, ratchet, public key. The session's ID stays right.
  const exported = session.exportAt() ?? "";
  const bytes = Uint8Array.fromBase64(exported + "=".repeat((4 - exported.length % 4) % 4));
  bytes[40] = (bytes[40] ?? 0) ^ 1;
  const forged = bytes.toBase64({ omitPadding: true });
  const { curve25519: senderKey, ed25519: senderEd25519 } = newDevice(receiver, MALLORY);
  const added = await receiver.step((tx) =>
    receiver.inbound.import(tx, {
      roomId: ROOM,
      sessionId: sender.sessionId,
      sessionKey: forged,
      senderKey,
      senderEd25519,
      source: "backup",
    })
  );
  assertEquals(added.kind, "refused");
  assertEquals(told(await receiver.one(sender.say("hello"))), "hello");
  receiver.restart();
  assertEquals(told(await receiver.one(sender.say("again"))), "again");
});
