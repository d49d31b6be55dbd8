import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import type { DeviceTrust, KeySource, SenderTrust } from "@greenroom/matrix/types";
import { ClaimJudge } from "../../../src/crypto/megolm/session_owner.ts";
import { accepts, isPastOnly, senderTrustOf } from "../../../src/crypto/megolm/mod.ts";
import { encryptionOf } from "../../../src/types/events/encryption_info.ts";
import {
  ALICE,
  failure,
  KnownDevices,
  knownSender,
  MALLORY,
  ME,
  newDevice,
  read,
  Receiver,
  ROOM,
  Sender,
  told,
} from "./support.ts";

Deno.test("how far a sender is trusted follows from how far the device is", () => {
  const expected: Record<DeviceTrust, SenderTrust> = {
    "blacklisted": "unsigned-device",
    "unsigned": "unsigned-device",
    "violation": "verification-violation",
    "cross-signed": "unverified-identity",
    "verified": "verified",
  };
  for (const [trust, sender] of Object.entries(expected)) {
    assertEquals(senderTrustOf({ trust: trust as DeviceTrust }), sender);
  }
  assertEquals(senderTrustOf(undefined), "unknown-device");
});

Deno.test("which senders are accepted, by policy", () => {
  const rows: [SenderTrust, KeySource, all: string, legacy: string, crossSigned: string][] = [
    ["mismatched-sender", "direct", "no", "no", "no"],
    ["unknown-device", "direct", "yes", "no", "no"],
    ["unknown-device", "forwarded", "yes", "yes", "no"],
    ["unknown-device", "backup", "yes", "yes", "no"],
    ["unsigned-device", "direct", "yes", "no", "no"],
    ["unsigned-device", "forwarded", "yes", "no", "no"],
    ["verification-violation", "backup", "yes", "no", "no"],
    ["mismatched-sender", "backup", "no", "no", "no"],
    ["verification-violation", "direct", "yes", "no", "no"],
    ["unverified-identity", "direct", "yes", "yes", "yes"],
    ["verified", "direct", "yes", "yes", "yes"],
  ];
  for (const [trust, source, ...expected] of rows) {
    const found = (["all", "cross-signed-or-legacy", "cross-signed"] as const)
      .map((policy) => accepts(policy, { trust, source }) ? "yes" : "no");
    assertEquals([trust, source, ...found], [trust, source, ...expected]);
  }
});

Deno.test("an own device that is spared until the own identity is accepted is heard, unless the key contradicts it", () => {
  for (const policy of ["all", "cross-signed-or-legacy", "cross-signed"] as const) {
    assert(accepts(policy, { trust: "unsigned-device", source: "direct", isSpared: true }));
    assertFalse(accepts(policy, { trust: "mismatched-sender", source: "direct", isSpared: true }));
  }
});

Deno.test("what a backup or a bundle alone says of an unknown device does for the past only, by the policy that hears those", () => {
  for (const policy of ["all", "cross-signed-or-legacy", "cross-signed"] as const) {
    for (const trust of ["unknown-device", "unsigned-device", "verified"] as const) {
      for (const source of ["direct", "forwarded", "export", "backup", "bundle"] as const) {
        const expected = policy === "cross-signed-or-legacy" && trust === "unknown-device" &&
          ["backup", "bundle"].includes(source);
        assertEquals(isPastOnly(policy, { trust, source }), expected);
      }
    }
  }
});

Deno.test("S27: a key of an unknown device is kept, and trusted once the device is known", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  assertEquals((await receiver.key(sender)).kind, "added");
  const trustOf = async () => encryptionOf(read(await receiver.one(event)))?.senderTrust;
  const event = sender.say("hello");
  assertEquals(await trustOf(), "unknown-device");
  receiver.devices.put({ ...sender.device, trust: "unsigned" });
  assertEquals(await trustOf(), "unsigned-device");
  receiver.devices.put({ ...sender.device, trust: "verified" });
  assertEquals(await trustOf(), "verified");
});

Deno.test("S62: a device that came with its key is trusted as what it is known as", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver, ALICE, { trust: "unsigned", deviceId: "NEW" });
  const encryption = encryptionOf(read(await receiver.one(sender.say("hello"))));
  assertEquals(encryption?.senderTrust, "unsigned-device");
  assertEquals(encryption?.senderDevice, "NEW");
});

Deno.test("a device that is gone stays what it was, across restarts", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE, { trust: "verified" }));
  await receiver.key(sender);
  receiver.devices.put(sender.device);
  await receiver.one(sender.say("while it is known"));
  receiver.devices.remove(sender.device);
  receiver.restart();
  const encryption = encryptionOf(read(await receiver.one(sender.say("when it is gone"))));
  assertEquals(encryption?.senderTrust, "verified");
  assertEquals(encryption?.senderDevice, "DEVICE");
});

Deno.test("a device that is trusted less now is trusted less, and stays so when it is gone", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver, ALICE, { trust: "verified" });
  await receiver.one(sender.say("verified"));
  receiver.devices.put({ ...sender.device, trust: "violation" });
  assertEquals(
    encryptionOf(read(await receiver.one(sender.say("x"))))?.senderTrust,
    "verification-violation",
  );
  receiver.devices.remove(sender.device);
  assertEquals(
    encryptionOf(read(await receiver.one(sender.say("y"))))?.senderTrust,
    "verification-violation",
  );
});

Deno.test("a device that named another Ed25519 key than it turns out to have does not speak for the user", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, newDevice(receiver, ALICE));
  await receiver.key(sender);
  receiver.devices.put({ ...sender.device, ed25519: newDevice(receiver, ALICE).ed25519 });
  assertEquals(told(await receiver.one(sender.say("hello"))), "UNTRUSTED");
});

Deno.test("an event that is not trusted enough fails with its device and what to do", async () => {
  const receiver = new Receiver({ policy: { accept: "cross-signed" } });
  const sender = await knownSender(receiver, ALICE, { trust: "unsigned" });
  const event = sender.say("hello");
  const { code, reason } = failure(await receiver.one(event));
  assertEquals(code, "UNTRUSTED");
  assertMatch(reason, /DEVICE is not trusted enough \(unsigned-device\); its user has to verify it/);
  receiver.devices.put({ ...sender.device, trust: "cross-signed" });
  assertEquals(told(await receiver.one(event)), "hello");
});

Deno.test("an event is only accepted as legacy if its key did not come from its device", async () => {
  const receiver = new Receiver({ policy: { accept: "cross-signed-or-legacy" } });
  const direct = new Sender(receiver, newDevice(receiver, ALICE));
  await receiver.key(direct);
  assertEquals(told(await receiver.one(direct.say("hello"))), "UNTRUSTED");
  const legacy = new Sender(receiver, newDevice(receiver, ALICE));
  await imported(receiver, legacy);
  assertEquals(told(await receiver.one(legacy.say("hello"))), "hello");
});

Deno.test("the lower index wins the ratchet and the device itself the attribution, in either order", async () => {
  for (const order of ["import first", "key first"]) {
    const receiver = new Receiver();
    const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
    const early = [sender.say("0"), sender.say("1")];
    const later = sender.laterKey();
    if (order === "key first") await receiver.key(sender, later);
    await imported(receiver, sender);
    if (order === "import first") await receiver.key(sender, later);
    const decrypted = await receiver.decrypt(...early);
    assertEquals(decrypted.map(told), ["0", "1"]);
    const encryption = encryptionOf(read(decrypted[0]));
    assertEquals(encryption?.keySource, "direct");
    assertEquals(encryption?.senderTrust, "unverified-identity");
  }
});

Deno.test("S63: an event of another user's session says that its key contradicts its sender", async () => {
  const receiver = new Receiver();
  const bridge = await knownSender(receiver, "@bridge:example.org");
  const { code, reason } = failure(await receiver.one(bridge.say("hi", { sender: "@ghost:example.org" })));
  assertEquals(code, "UNTRUSTED");
  assertMatch(reason, /of @ghost:example\.org .* key came from another user/);
});

/** Receives the key of a session from a user who did not make it. */
async function imported(receiver: Receiver, sender: Sender): Promise<void> {
  using session = receiver.context.vodozemac.megolm.createInbound(sender.roomKey.session_key);
  const { curve25519: senderKey, ed25519: senderEd25519 } = sender.device;
  await receiver.step((tx) =>
    receiver.inbound.import(tx, {
      roomId: ROOM,
      sessionId: sender.sessionId,
      sessionKey: session.exportAt() ?? "",
      senderKey,
      senderEd25519,
      source: "backup",
    })
  );
}

const receiver = new Receiver();
const { context } = receiver;
const { curve25519: senderKey, ed25519: senderEd25519 } = context.own;
const judge = new ClaimJudge(context, receiver.devices);

Deno.test("a session is this device's own only if the own user claims it with the own key", async () => {
  const trustOf = async (userId: typeof ME, key = senderKey) => {
    const claim = { userId, senderKey: key, senderEd25519, sharedHistory: false };
    return (await receiver.step((tx) => judge.judge(tx, claim))).trust;
  };
  assertEquals(await trustOf(ME), "verified");
  assertEquals(await trustOf(MALLORY), "unknown-device");
  assertEquals(await trustOf(ME, senderEd25519), "unknown-device");
});

Deno.test("what is said to be of a device is trusted as one that nobody knows, or as the device if that is worse", async () => {
  const expected = {
    "blacklisted": "unsigned-device",
    "unsigned": "unsigned-device",
    "violation": "verification-violation",
    "cross-signed": "unknown-device",
    "verified": "unknown-device",
  } as const;
  for (const [trust, sender] of Object.entries(expected)) {
    const { curve25519, ed25519 } = receiver.devices.put(
      newDevice(receiver, MALLORY, { deviceId: trust, trust: trust as DeviceTrust }),
    );
    const said = {
      source: "backup",
      senderKey: curve25519,
      senderEd25519: ed25519,
      sharedHistory: false,
    } as const;
    assertEquals((await receiver.step((tx) => judge.judgeHearsay(tx, MALLORY, said))).trust, sender);
  }
});

Deno.test("a claim is better than another if its device is to be trusted further, and only then", () => {
  const order: SenderTrust[] = ["mismatched-sender", "unknown-device", "unverified-identity", "verified"];
  const attributions = order.map((trust) =>
    ({ trust, source: "direct", senderKey, senderDevice: "D" }) as const
  );
  for (const [index, one] of attributions.entries()) {
    for (const [place, other] of attributions.entries()) {
      if (index > place) assert(judge.isBetter(one, other));
      else assertFalse(judge.isBetter(one, other));
    }
  }
});

Deno.test("devices of several users are read together, those of one when they are needed", async () => {
  const devices = new KnownDevices();
  const reading = new ClaimJudge(context, devices);
  await receiver.step((tx) => reading.prefetch(tx, [ME]));
  assertEquals(devices.readTogether, []);
  await receiver.step((tx) => reading.prefetch(tx, [ME, MALLORY]));
  assertEquals(devices.readTogether, [[ME, MALLORY]]);
});
