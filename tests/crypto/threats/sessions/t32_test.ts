/** A room key under another session's ID, for another room, or with more bytes than it has. */

import { assertEquals } from "@std/assert";
import { ALICE, newDevice, Receiver, ROOM, Sender, told } from "../../megolm/support.ts";

Deno.test("T32: a room key is refused under another session's ID, and is of no use in another room", async () => {
  const receiver = new Receiver();
  const device = receiver.devices.put(newDevice(receiver, ALICE));
  const [one, two] = [new Sender(receiver, device), new Sender(receiver, device)];
  const added = await receiver.key(one, { session_id: two.sessionId });
  assertEquals(added.kind, "refused");
  await receiver.key(one, { room_id: "!other:example.org" });
  assertEquals((await receiver.decrypt(one.say("1"), two.say("2"))).map(told), [
    "MISSING_KEY",
    "MISSING_KEY",
  ]);
});

Deno.test("T32: a key with more bytes than it has, or under a wrong label, is refused from every source", async () => {
  const receiver = new Receiver();
  const device = receiver.devices.put(newDevice(receiver, ALICE));
  const [one, two] = [new Sender(receiver, device), new Sender(receiver, device)];
  const longer = (key: string) => {
    const bytes = Uint8Array.fromBase64(key + "=".repeat((4 - key.length % 4) % 4));
    return Uint8Array.from([...bytes, 0, 0, 0]).toBase64({ omitPadding: true });
  };
  assertEquals((await receiver.key(one, { session_key: longer(one.roomKey.session_key) })).kind, "refused");
  using session = receiver.context.vodozemac.megolm.createInbound(one.roomKey.session_key);
  const exported = session.exportAt() ?? "";
  const { curve25519: senderKey, ed25519: senderEd25519 } = device;
  for (const source of ["forwarded", "backup", "export", "bundle"] as const) {
    const key = {
      roomId: ROOM,
      sessionId: one.sessionId,
      sessionKey: exported,
      senderKey,
      senderEd25519,
      source,
    };
    const wrong = [
      { ...key, sessionKey: longer(exported) },
      { ...key, sessionId: two.sessionId },
      { ...key, sessionKey: "" },
    ];
    for (const change of wrong) {
      assertEquals((await receiver.step((tx) => receiver.inbound.import(tx, change))).kind, "refused");
    }
  }
  assertEquals(told(await receiver.one(one.say("1"))), "MISSING_KEY");
});
