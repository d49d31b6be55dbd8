/**
 * Claim flood: made-up users and devices claim a session before its owner does. Whoever has a
 * session's key can send it on as an own one, as often as they have users or devices: a server can
 * make up any number of both. All of them come before the true owner, whose claim must count all
 * the same.
 *
 * Class of mistake: a bounded list that says "full" to whoever comes last, when those who came
 * first cost nothing to make.
 */

import { assertEquals } from "@std/assert";
import type { DeviceTrust, UserID } from "@greenroom/matrix/types";
import { encryptionOf } from "../../../../src/types/events/encryption_info.ts";
import { ALICE, MALLORY, newDevice, read, Receiver, ROOM, Sender, told } from "../../megolm/support.ts";

/** A device that sends another's key as an own one. */
async function squat(
  receiver: Receiver,
  { roomKey: { session_id, session_key } }: Sender,
  { userId, deviceId, trust }: { userId: UserID; deviceId: string; trust: DeviceTrust },
): Promise<void> {
  const device = receiver.devices.put(newDevice(receiver, userId, { deviceId, trust }));
  await receiver.key(new Sender(receiver, device), { session_id, session_key });
}

function newSender(receiver: Receiver, trust: DeviceTrust): Sender {
  return new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE, { trust })));
}

async function attributed(receiver: Receiver, sender: Sender) {
  const encryption = encryptionOf(read(await receiver.one(sender.say("hello"))));
  return [encryption?.senderDevice, encryption?.senderTrust, encryption?.senderKey];
}

for (const trust of ["unsigned", "cross-signed", "verified"] as const) {
  Deno.test(`T71: a hundred users with ${trust} devices who claim a session first do not take it from its owner`, async () => {
    const receiver = new Receiver();
    const alice = newSender(receiver, "unsigned");
    for (let number = 0; number < 100; number++) {
      await squat(receiver, alice, { userId: `@crowd${number}:example.org`, deviceId: "EVIL", trust });
    }
    await receiver.key(alice);
    assertEquals(await attributed(receiver, alice), ["DEVICE", "unsigned-device", alice.device.curve25519]);
    receiver.restart();
    assertEquals(await attributed(receiver, alice), ["DEVICE", "unsigned-device", alice.device.curve25519]);
  });
}

Deno.test("T71: unsigned devices that the server gives a user take nothing from the user's signed one", async () => {
  for (const trust of ["cross-signed", "verified"] as const) {
    const receiver = new Receiver();
    const alice = newSender(receiver, trust);
    for (let number = 0; number < 200; number++) {
      await squat(receiver, alice, { userId: ALICE, deviceId: `EVIL${number}`, trust: "unsigned" });
    }
    assertEquals((await receiver.key(alice)).kind, "improved");
    const expected = trust === "verified" ? trust : "unverified-identity";
    assertEquals(await attributed(receiver, alice), ["DEVICE", expected, alice.device.curve25519]);
    for (let number = 200; number < 400; number++) {
      await squat(receiver, alice, { userId: ALICE, deviceId: `EVIL${number}`, trust: "unsigned" });
    }
    receiver.restart();
    assertEquals(await attributed(receiver, alice), ["DEVICE", expected, alice.device.curve25519]);
  }
});

Deno.test("T71: a device that is signed after its claim came stays, whatever unsigned ones come then", async () => {
  const receiver = new Receiver();
  const alice = newSender(receiver, "unsigned");
  await receiver.key(alice);
  receiver.devices.put({ ...alice.device, trust: "verified" });
  for (let number = 0; number < 200; number++) {
    await squat(receiver, alice, { userId: ALICE, deviceId: `EVIL${number}`, trust: "cross-signed" });
  }
  assertEquals(await attributed(receiver, alice), ["DEVICE", "verified", alice.device.curve25519]);
});

Deno.test("T71: a user who claims another's session can't have it removed", async () => {
  for (const first of [MALLORY, ALICE]) {
    const receiver = new Receiver({ unused: { ofUser: 2, inAll: 100 } });
    const alice = newSender(receiver, "cross-signed");
    const claims = [
      () => squat(receiver, alice, { userId: MALLORY, deviceId: "EVIL", trust: "unsigned" }),
      () => receiver.key(alice),
    ];
    for (const claim of first === MALLORY ? claims : claims.reverse()) await claim();
    const evil = receiver.devices.put(newDevice(receiver, MALLORY));
    for (let number = 0; number < 5; number++) await receiver.key(new Sender(receiver, evil));
    receiver.restart();
    assertEquals(await attributed(receiver, alice), [
      "DEVICE",
      "unverified-identity",
      alice.device.curve25519,
    ]);
  }
});

Deno.test("T71: what a user has claimed of others and never used is bounded like sessions of their own", async () => {
  const receiver = new Receiver({ unused: { ofUser: 10, inAll: 1_000 } });
  const alice = receiver.devices.put(newDevice(receiver, ALICE));
  for (let number = 0; number < 50; number++) {
    const sender = new Sender(receiver, alice);
    await receiver.key(sender);
    await receiver.one(sender.say("hello")); // in use: Alice's own limit lets go of none
    await squat(receiver, sender, { userId: MALLORY, deviceId: "EVIL", trust: "unsigned" });
  }
  const count = async (kind: string) => (await receiver.vault.list(["crypto", kind])).length;
  assertEquals([await count("inbound"), await count("inbound_claims")], [50, 10]);
});

Deno.test("T71: an event whose sender does not claim the session is refused, however many others do", async () => {
  const receiver = new Receiver();
  const alice = newSender(receiver, "cross-signed");
  for (const userId of ["@one:example.org", "@two:example.org"] as const) {
    await squat(receiver, alice, { userId, deviceId: "EVIL", trust: "verified" });
  }
  const event = alice.say("hello");
  assertEquals(told(await receiver.one(event)), "UNTRUSTED");
  await receiver.key(alice);
  assertEquals(told(await receiver.one({ ...event, sender: MALLORY })), "UNTRUSTED");
  assertEquals(told(await receiver.one(event)), "hello");
  const [record] = await receiver.vault.getMany([["crypto", "inbound", ROOM, alice.sessionId]]);
  assertEquals((record as { claims: { userId: UserID }[] }).claims.map(({ userId }) => userId), [ALICE]);
});
