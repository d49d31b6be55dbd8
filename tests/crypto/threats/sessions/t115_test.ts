/**
 * A key file that names a wrong maker of a session. Nothing in it is signed: who has made it, or
 * given it to the user, can name anybody. It takes no session from its owner, gives none to
 * another, and makes nobody better trusted.
 *
 * Class of mistake: what nobody can prove fills the only place there is, or counts beside what was proven.
 */

import { assertEquals } from "@std/assert";
import type { CryptoDevice } from "@greenroom/matrix/types";
import type { ImportedRoomKey } from "../../../../src/crypto/megolm/mod.ts";
import { encryptionOf } from "../../../../src/types/events/encryption_info.ts";
import { ALICE, MALLORY, ME, newDevice, read, Receiver, ROOM, Sender, told } from "../../megolm/support.ts";

/** Alice's session, and devices of hers and of Mallory's. */
function stage() {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE, { trust: "verified" })));
  const mallory = receiver.devices.put(newDevice(receiver, MALLORY, { trust: "verified" }));
  using session = receiver.context.vodozemac.megolm.createInbound(alice.roomKey.session_key);
  const sessionKey = session.exportAt() ?? "";
  const file = (maker: CryptoDevice, change: Partial<ImportedRoomKey> = {}) =>
    receiver.step((tx) =>
      receiver.inbound.import(tx, {
        roomId: ROOM,
        sessionId: alice.sessionId,
        sessionKey,
        senderKey: maker.curve25519,
        senderEd25519: maker.ed25519,
        source: "export",
        ...change,
      })
    );
  return { receiver, alice, mallory, file };
}

Deno.test("T115: a file with the true maker makes good for one with a false one, and the device's own key for both", async () => {
  const { receiver, alice, mallory, file } = stage();
  await file(mallory);
  const event = alice.say("hello");
  assertEquals(told(await receiver.one(event)), "UNTRUSTED");
  assertEquals((await file(alice.device)).kind, "improved", "so that what waits is tried again");
  const hearsay = encryptionOf(read(await receiver.one(event)));
  assertEquals([hearsay?.keySource, hearsay?.senderTrust], ["export", "unknown-device"]);
  await receiver.key(alice);
  const proven = encryptionOf(read(await receiver.one(event)));
  assertEquals([proven?.keySource, proven?.senderTrust], ["direct", "verified"]);
});

Deno.test("T115: a session whose owner's message has come is nobody else's, whatever a file says", async () => {
  for (const order of ["before", "after"]) {
    const { receiver, alice, mallory, file } = stage();
    if (order === "before") await file(mallory);
    await receiver.key(alice);
    const event = alice.say("I resign");
    assertEquals(told(await receiver.one(event)), "I resign");
    if (order === "after") await file(mallory);
    for (const life of ["first", "second"]) {
      const copy = { ...event, sender: MALLORY };
      assertEquals(told(await receiver.one(copy)), "UNTRUSTED", `${order}, ${life}`);
      assertEquals(told(await receiver.one(event)), "I resign");
      receiver.restart();
    }
  }
});

Deno.test("T115: an own session is nobody else's, whatever a file says", async () => {
  const { receiver, alice, mallory, file } = stage();
  const { roomId, roomKey: { session_key: sessionKey } } = alice;
  await receiver.step((tx) => receiver.inbound.addOwn(tx, { roomId, sessionKey, sharedHistory: false }));
  await file(mallory);
  const event = alice.say("mine", { sender: ME });
  assertEquals(told(await receiver.one({ ...event, sender: MALLORY })), "UNTRUSTED");
  assertEquals(encryptionOf(read(await receiver.one(event)))?.senderTrust, "verified");
});

Deno.test("T115: a session of a file is of an unknown device, even if the file names a verified one", async () => {
  const { receiver, alice, file } = stage();
  await file(alice.device);
  const encryption = encryptionOf(read(await receiver.one(alice.say("hello"))));
  assertEquals([encryption?.senderTrust, encryption?.senderDevice], ["unknown-device", undefined]);
  const { receiver: strict, ...other } = stage();
  await other.file(other.alice.device);
  Object.assign(strict.context.policy, { accept: "cross-signed" });
  assertEquals(told(await strict.one(other.alice.say("hello"))), "UNTRUSTED");
});

Deno.test("T115: a thousand makers of a session take no more room than four, and an own device that was asked has one", async () => {
  const { receiver, alice, mallory, file } = stage();
  for (let number = 0; number < 30; number++) await file(newDevice(receiver, MALLORY), { source: "backup" });
  await file(mallory);
  await file(alice.device, { source: "forwarded" });
  const exported = await receiver.step((tx) =>
    receiver.inbound.exportSession(tx, { roomId: ROOM, sessionId: alice.sessionId })
  );
  assertEquals(exported?.content.sender_key, alice.device.curve25519);
  assertEquals(encryptionOf(read(await receiver.one(alice.say("hello"))))?.keySource, "forwarded");
});

Deno.test("T115: the key that reads more is kept whoever names its maker, and the better maker whatever its key reads", async () => {
  const { receiver, alice, file, mallory } = stage();
  const early = alice.say("early");
  using later = receiver.context.vodozemac.megolm.createInbound(alice.laterKey().session_key);
  await file(alice.device, { source: "forwarded", sessionKey: later.exportAt() ?? "" });
  assertEquals(told(await receiver.one(early)), "KEY_TOO_NEW");
  assertEquals((await file(mallory, { source: "backup" })).kind, "improved");
  const encryption = encryptionOf(read(await receiver.one(early)));
  assertEquals([encryption?.keySource, encryption?.senderKey], ["forwarded", alice.device.curve25519]);
});
