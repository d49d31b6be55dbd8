import { assert, assertEquals } from "@std/assert";
import { readRoomKey } from "../../../src/crypto/megolm/room_key.ts";
import type { DeviceKeys, JsonObject } from "@greenroom/matrix/types";
import { FakeUser } from "../support/fake_user.ts";
import {
  ALICE,
  knownSender,
  MALLORY,
  ME,
  MEGOLM,
  newDevice,
  read,
  Receiver,
  ROOM,
  Sender,
  told,
} from "./support.ts";
import { encryptionOf } from "../../../src/types/events/encryption_info.ts";

Deno.test("a key of an earlier index makes more readable, a later one changes nothing", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const first = sender.roomKey;
  const early = sender.say("early");
  const middle = sender.laterKey();
  const late = sender.say("late");

  assertEquals((await receiver.key(sender, middle)).kind, "added");
  assertEquals((await receiver.decrypt(early, late)).map(told), ["KEY_TOO_NEW", "late"]);
  assertEquals((await receiver.key(sender, first)).kind, "improved");
  assertEquals((await receiver.decrypt(early, late)).map(told), ["early", "late"]);
  assertEquals((await receiver.key(sender, middle)).kind, "known");
  assertEquals((await receiver.key(sender, sender.laterKey())).kind, "known");
  receiver.restart();
  assertEquals((await receiver.decrypt(early, late)).map(told), ["early", "late"]);
});

Deno.test("a room key that is not what a room key must be is refused", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const changes = [
    { algorithm: "m.megolm.v2" },
    { algorithm: undefined },
    { room_id: undefined },
    { room_id: "room" },
    { room_id: `!${"x".repeat(300)}` },
    { session_id: undefined },
    { session_id: "" },
    { session_key: undefined },
    { session_key: "" },
    { session_key: {} },
    { session_key: "AAAA" },
  ];
  for (const change of changes) assertEquals((await receiver.key(sender, change)).kind, "refused");
  const refusal = async (change: JsonObject) => {
    const added = await receiver.key(sender, change);
    return added.kind === "refused" && added.reason;
  };
  assertEquals(
    await refusal({ algorithm: "m.megolm.v2" }),
    "it is for an algorithm that is not known here",
  );
  assertEquals(await refusal({ session_key: {} }), "there is no key in it");
  assertEquals(await refusal({ session_id: "session" }), "it names no room or no session");
  assertEquals(told(await receiver.one(sender.say("hello"))), "MISSING_KEY");
});

Deno.test("a room key from a device with invalid keys is refused", async () => {
  const receiver = new Receiver();
  const { roomKey: content, device } = new Sender(receiver, newDevice(receiver, ALICE));
  const from = {
    sender: ALICE,
    senderKey: device.curve25519,
    senderEd25519: device.ed25519,
    device: undefined,
    content,
  };
  for (
    const change of [{ senderKey: "short" }, { senderKey: "" }, { senderEd25519: "short" }, {
      senderEd25519: "",
    }]
  ) {
    const added = await receiver.step((tx) => receiver.inbound.addRoomKey(tx, { ...from, ...change }));
    assertEquals(added.kind, "refused");
  }
  assertEquals((await receiver.step((tx) => receiver.inbound.addRoomKey(tx, from))).kind, "added");
});

Deno.test("a room key of a device with other keys than it is known with is refused", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const { userId: by, curve25519: senderKey, ed25519: senderEd25519 } = sender.device;
  const other = newDevice(receiver, ALICE);
  const changes = [
    { ed25519: other.ed25519 },
    { curve25519: other.curve25519 },
    { userId: "@bob:example.org" as const },
    { isDehydrated: true },
  ];
  for (const change of changes) {
    const device = { ...sender.device, ...change };
    const key = { sender: by, senderKey, senderEd25519, device, content: sender.roomKey };
    const added = await receiver.step((tx) => receiver.inbound.addRoomKey(tx, key));
    assertEquals(added.kind, "refused");
  }
});

Deno.test("the copy of an own session reads what this device has sent, as verified", async () => {
  const receiver = new Receiver();
  const { own } = receiver.context;
  const me = new Sender(receiver, { ...newDevice(receiver, own.userId), ...own, trust: "verified" });
  const sessionKey = me.roomKey.session_key;
  await receiver.step((tx) =>
    receiver.inbound.addOwn(tx, { roomId: ROOM, sessionKey, sharedHistory: false })
  );
  const event = read(await receiver.one(me.say("mine")));
  assertEquals(event.content.body, "mine");
  assertEquals(encryptionOf(event)?.senderTrust, "verified");
  assertEquals(encryptionOf(event)?.senderDevice, own.deviceId);
});

Deno.test("an exported session can be imported, from the index that was asked for", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const events = [sender.say("0"), sender.say("1"), sender.say("2")];
  const ref = { roomId: ROOM, sessionId: sender.sessionId };
  const exported = await receiver.step((tx) => receiver.inbound.exportSession(tx, ref, 1));
  assert(exported);
  assertEquals(exported.firstIndex, 1);
  assertEquals(exported.senderEd25519, sender.device.ed25519);
  assert(!exported.sharedHistory);
  const { session_key, ...content } = exported.content;
  const sender_key = sender.device.curve25519;
  assertEquals(content, { algorithm: MEGOLM, room_id: ROOM, session_id: sender.sessionId, sender_key });

  const other = new Receiver();
  await other.step((tx) =>
    other.inbound.import(tx, {
      ...ref,
      sessionKey: session_key,
      senderKey: sender_key,
      senderEd25519: exported.senderEd25519,
      source: "export",
    })
  );
  const decrypted = await other.decrypt(...events);
  assertEquals(decrypted.map(told), ["KEY_TOO_NEW", "1", "2"]);
  const encryption = encryptionOf(read(decrypted[1]));
  assertEquals(encryption?.keySource, "export");
  assertEquals(encryption?.senderTrust, "unknown-device");
  // What is not known from the beginning is exported from where it is known.
  const again = await other.step((tx) => other.inbound.exportSession(tx, ref));
  assertEquals(again?.firstIndex, 1);
  const unknown = { roomId: ROOM, sessionId: other.context.own.ed25519 };
  assertEquals(await other.step((tx) => other.inbound.exportSession(tx, unknown)), undefined);
});

Deno.test("history may be shared only if all users who sent the key allow it", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  const ref = { roomId: ROOM, sessionId: sender.sessionId };
  const shareable = async () =>
    (await receiver.step((tx) => receiver.inbound.exportSession(tx, ref)))?.sharedHistory;
  await receiver.key(sender, { shared_history: true });
  assert(await shareable());
  const { curve25519: senderKey, ed25519: senderEd25519 } = newDevice(receiver, ALICE);
  const key = { sender: ALICE, senderKey, senderEd25519, device: undefined, content: sender.roomKey };
  await receiver.step((tx) => receiver.inbound.addRoomKey(tx, key));
  assert(!await shareable());
});

Deno.test("history may not be shared if any user who sent the key does not allow it, in any order", async () => {
  for (const silent of [0, 1, 2]) {
    const receiver = new Receiver();
    const owner = new Sender(
      receiver,
      receiver.devices.put(newDevice(receiver, ALICE, { trust: "verified" })),
    );
    const ref = { roomId: ROOM, sessionId: owner.sessionId };
    for (const [index, userId] of [MALLORY, ALICE, ME].entries()) {
      const device = userId === ALICE ? owner.device : receiver.devices.put(newDevice(receiver, userId));
      const { session_id, session_key } = owner.roomKey;
      const shared_history = index !== silent;
      await receiver.key(new Sender(receiver, device), { session_id, session_key, shared_history });
      const exported = await receiver.step((tx) => receiver.inbound.exportSession(tx, ref));
      assertEquals(exported?.sharedHistory, index < silent, `${silent} ${index}`);
    }
  }
});

Deno.test("what a device shows of itself with a key is kept, unless it is known to be vouched for", () => {
  const receiver = new Receiver();
  const alice = new FakeUser(ALICE, "PHONE").crossSign();
  const { curve25519, signing: { publicKey: ed25519 } } = alice.device("PHONE");
  const { roomKey: content } = new Sender(receiver, newDevice(receiver, ALICE));
  const sent = { sender: ALICE, senderKey: curve25519, senderEd25519: ed25519, content };
  const deviceKeys = alice.deviceKeys(alice.device("PHONE")) as unknown as DeviceKeys;
  const signers = (trust?: "unsigned" | "cross-signed", keys: DeviceKeys | undefined = deviceKeys) => {
    const known = { ...newDevice(receiver, ALICE, { trust }), deviceId: "PHONE", curve25519, ed25519 };
    const device = trust === undefined ? undefined : known;
    const key = readRoomKey(receiver.context.vodozemac, { ...sent, device, deviceKeys: keys });
    assert(typeof key !== "string", `${key}`);
    return key.claim.credentials?.signedBy;
  };
  const signedBy = [alice.selfSigning?.publicKey ?? ""];
  assertEquals([signers(), signers("unsigned"), signers("cross-signed")], [signedBy, signedBy, undefined]);
});
