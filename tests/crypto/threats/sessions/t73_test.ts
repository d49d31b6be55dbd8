/**
 * Events of others in a session that was passed on, whose owner is known. A key that another own
 * device, a backup or a file has brought names the device whose it is; whoever is in the room can
 * put its ciphertexts into events of their own, without even having the key. Where that device is
 * known to be somebody else's, those events are not the sender's.
 *
 * Class of mistake: what can't be proved is not even compared with what is known.
 */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob } from "../../engine/bot.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { ALICE, MALLORY, newDevice, read, Receiver, Sender, told } from "../../megolm/support.ts";
import type { CryptoDevice, KeySource } from "@greenroom/matrix/types";
import { encryptionOf } from "../../../../src/types/events/encryption_info.ts";

async function imported(
  receiver: Receiver,
  sender: Sender,
  { source = "forwarded", device = sender.device }: {
    source?: Exclude<KeySource, "direct">;
    device?: CryptoDevice;
  } = {},
): Promise<void> {
  using session = receiver.context.vodozemac.megolm.createInbound(sender.roomKey.session_key);
  const { curve25519: senderKey, ed25519: senderEd25519 } = device;
  const { roomId, sessionId } = sender;
  const sessionKey = session.exportAt() ?? "";
  await receiver.step((tx) =>
    receiver.inbound.import(tx, { roomId, sessionId, sessionKey, senderKey, senderEd25519, source })
  );
}

for (const source of ["forwarded", "backup", "export", "bundle"] as const) {
  Deno.test(`T73: a session (${source}) of a device that is known is not decrypted as another's event`, async () => {
    const receiver = new Receiver();
    const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
    receiver.devices.put(newDevice(receiver, MALLORY));
    await imported(receiver, alice, { source });
    const event = alice.say("yes");
    assertEquals(told(await receiver.one({ ...event, event_id: "$copy", sender: MALLORY })), "UNTRUSTED");
    const encryption = encryptionOf(read(await receiver.one(event)));
    assertEquals([encryption?.keySource, encryption?.senderTrust], [source, "unknown-device"]);
  });
}

Deno.test("T73: the owner of a device counts from when it is known, and after it is gone", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, newDevice(receiver, ALICE));
  await imported(receiver, alice);
  const [one, two, three] = [alice.say("one"), alice.say("two"), alice.say("three")];
  // There is no better information.
  assertEquals(told(await receiver.one({ ...one, sender: MALLORY })), "one");
  receiver.devices.put(alice.device);
  assertEquals(told(await receiver.one({ ...two, sender: MALLORY })), "UNTRUSTED");
  assertEquals(told(await receiver.one(two)), "two");
  receiver.devices.remove(alice.device);
  assertEquals(told(await receiver.one({ ...three, sender: MALLORY })), "UNTRUSTED");
});

Deno.test("T73: a user who publishes another's identity key does not get its sessions", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const mallory = newDevice(receiver, MALLORY);
  receiver.devices.put({ ...mallory, curve25519: alice.device.curve25519 });
  await imported(receiver, alice);
  const event = alice.say("yes");
  assertEquals(told(await receiver.one({ ...event, sender: MALLORY })), "UNTRUSTED");
  assertEquals(told(await receiver.one(event)), "yes");
});

Deno.test("T73: a session of an unknown device counts as its sender's", async () => {
  const receiver = new Receiver();
  receiver.devices.put(newDevice(receiver, ALICE));
  const gone = new Sender(receiver, newDevice(receiver, ALICE, { deviceId: "GONE" }));
  await imported(receiver, gone, { source: "backup" });
  const encryption = encryptionOf(read(await receiver.one(gone.say("long ago"))));
  assertEquals([encryption?.keySource, encryption?.senderTrust], ["backup", "unknown-device"]);
});

Deno.test("T73: a whole engine assigns devices to their users, also those that come later or are gone", async () => {
  const { alice: bot, server } = await aliceAndBob();
  const [carol, dave, mallory] = ["carol", "dave", "mallory"].map((name) => {
    server.member(`@${name}:example.org`, "join");
    return new RawDevice(server, `@${name}:example.org`, "DEVICE");
  });
  assert(carol !== undefined && dave !== undefined && mallory !== undefined);
  carol.publish();
  mallory.publish();
  const phone = new RawDevice(server, bot.userId, "PHONE").publish();
  server.mailbox(bot).changed.add(bot.userId);
  await bot.sync();
  await bot.ready();
  await bot.engine.steps.setDeviceTrust({ ...phone.own, trust: "verified" });
  /** What is read of a message, and of a copy of it in an event of Mallory's. */
  const outcomes = async (owner: RawDevice, session: RawSession, body: string) => {
    const event = server.publish(owner.own, session.event(ROOM, body), body);
    const copy = { ...event, event_id: `$copy-${body}` as const, sender: mallory.own.userId };
    return [told(await bot.engine.decrypt(copy)), told(await bot.engine.decrypt(event))];
  };
  const forwarded = async (owner: RawDevice) => {
    const session = new RawSession();
    const key = session.exported(ROOM, owner.own);
    await bot.sync({ encrypted: [server.publish(owner.own, session.event(ROOM, "zero"), session.id)] });
    await bot.sync({ toDevice: [phone.message(bot, "m.forwarded_room_key", key)] });
    return session;
  };
  assertEquals(await outcomes(carol, await forwarded(carol), "one"), ["UNTRUSTED", "one"]);
  const later = await forwarded(dave);
  assertEquals(await outcomes(dave, later, "two"), ["two", "two"], "Dave's device is unknown");
  dave.publish();
  server.mailbox(bot).changed.add(dave.own.userId);
  await bot.sync();
  await bot.ready();
  assertEquals(await outcomes(dave, later, "three"), ["UNTRUSTED", "three"]);
  server.keys.delete(dave.own.userId);
  server.mailbox(bot).changed.add(dave.own.userId);
  await bot.sync();
  await bot.ready();
  for (const restart of [false, true]) {
    if (restart) await bot.restart();
    assertEquals(await outcomes(dave, later, `${restart}`), ["UNTRUSTED", `${restart}`]);
  }
});
