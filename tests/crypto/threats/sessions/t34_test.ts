/** A member claims another member's session. */

import { assertEquals } from "@std/assert";
import {
  ALICE,
  knownSender,
  MALLORY,
  newDevice,
  read,
  Receiver,
  ROOM,
  Sender,
  told,
} from "../../megolm/support.ts";
import { encryptionOf } from "../../../../src/types/events/encryption_info.ts";

for (const order of ["before", "after"]) {
  Deno.test(`T34: who sends another's key as an own one ${order} them takes nothing from them`, async () => {
    const receiver = new Receiver();
    const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
    const mallory = new Sender(
      receiver,
      receiver.devices.put(newDevice(receiver, MALLORY, { trust: "verified" })),
    );
    const { session_id, session_key } = alice.roomKey;
    const squat = () => receiver.key(mallory, { session_id, session_key });
    if (order === "before") await squat();
    await receiver.key(alice);
    if (order === "after") await squat();

    const event = read(await receiver.one(alice.say("hello")));
    const encryption = encryptionOf(event);

    assertEquals(event.sender, ALICE);
    assertEquals(encryption?.senderTrust, "unverified-identity");
    assertEquals(encryption?.senderKey, alice.device.curve25519);
  });
}

Deno.test("T34: an event is refused while only another user claims its session", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const mallory = await knownSender(receiver, MALLORY);
  const { session_id, session_key } = alice.roomKey;
  await receiver.key(mallory, { session_id, session_key });
  const event = alice.say("hello");
  assertEquals(told(await receiver.one(event)), "UNTRUSTED");
  assertEquals((await receiver.key(alice)).kind, "improved"); // so that what waits is tried again
  assertEquals(told(await receiver.one(event)), "hello");
});

Deno.test("T34: a session from a backup stays readable when another user claims it", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  using session = receiver.context.vodozemac.megolm.createInbound(alice.roomKey.session_key);
  const { curve25519: senderKey, ed25519: senderEd25519 } = alice.device;
  const key = {
    roomId: ROOM,
    sessionId: alice.sessionId,
    sessionKey: session.exportAt() ?? "",
    senderKey,
    senderEd25519,
  };
  await receiver.step((tx) => receiver.inbound.import(tx, { ...key, source: "backup" }));
  const mallory = await knownSender(receiver, MALLORY);
  const { session_id, session_key } = alice.roomKey;
  await receiver.key(mallory, { session_id, session_key });
  const encryption = encryptionOf(read(await receiver.one(alice.say("hello"))));
  assertEquals([encryption?.keySource, encryption?.senderTrust], ["backup", "unknown-device"]);
  // But once the device itself has sent the key, the others' sender is contradicted.
  await receiver.key(alice);
  assertEquals(told(await receiver.one(alice.say("hello", { sender: "@eve:example.org" }))), "UNTRUSTED");
});

Deno.test("T34: claims are bounded, and those of one user do not displace others'", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const { session_id, session_key } = alice.roomKey;
  for (let number = 0; number < 100; number++) {
    const mallory = new Sender(receiver, newDevice(receiver, MALLORY, { deviceId: `${number}` }));
    await receiver.key(mallory, { session_id, session_key });
  }
  await receiver.key(alice);
  assertEquals(told(await receiver.one(alice.say("hello"))), "hello");
  for (let number = 0; number < 100; number++) {
    const crowd = new Sender(receiver, newDevice(receiver, `@crowd${number}:example.org`));
    await receiver.key(crowd, { session_id, session_key });
  }
  const claims = await receiver.vault.getMany([
    ["crypto", "inbound", ROOM, alice.sessionId],
    ["crypto", "inbound_claims", ROOM, alice.sessionId, MALLORY],
  ]);
  assertEquals(claims.map((record) => (record as { claims: unknown[] }).claims.length), [1, 32]);
});
