/**
 * A session that is exported in the name of who only claimed it. Mallory claims Alice's session
 * first; then Alice does, and her messages are read. Whoever gets the session from here (another
 * own device that asks, a file, a backup) must be told that it is Alice's: they would refuse her
 * messages otherwise, and take Mallory's copies.
 *
 * Class of mistake: the first of a list taken for the best of it.
 */

import { assert, assertEquals } from "@std/assert";
import type { DeviceTrust } from "@greenroom/matrix/types";
import { ALICE, MALLORY, newDevice, Receiver, ROOM, Sender, told } from "../../megolm/support.ts";

async function claimed(...trusts: [mallory: DeviceTrust, alice: DeviceTrust]) {
  const receiver = new Receiver();
  const [mallory, alice] = trusts.map((trust, index) => {
    const device = newDevice(receiver, index === 0 ? MALLORY : ALICE, { trust });
    return new Sender(receiver, receiver.devices.put(device));
  });
  assert(mallory !== undefined && alice !== undefined);
  const { session_id, session_key } = alice.roomKey;
  await receiver.key(mallory, { session_id, session_key, shared_history: true });
  await receiver.key(alice);
  const exported = async () => {
    const ref = { roomId: ROOM, sessionId: alice.sessionId };
    const session = await receiver.step((tx) => receiver.inbound.exportSession(tx, ref));
    return [session?.content.sender_key, session?.senderEd25519, session?.sharedHistory];
  };
  const { curve25519, ed25519 } = alice.device;
  return { receiver, alice, exported, hers: [curve25519, ed25519, false] };
}

Deno.test("T74: a session is exported as that of the user whose messages were decrypted, not of the first claimant", async () => {
  for (const trust of ["unsigned", "cross-signed", "verified"] as const) {
    const { receiver, alice, exported, hers } = await claimed(trust, "unsigned");
    await receiver.one(alice.say("hello"));
    assertEquals(await exported(), hers);
    receiver.restart();
    assertEquals(await exported(), hers);
    const copy = { ...alice.say("again"), sender: MALLORY };
    if (trust === "unsigned") assertEquals(told(await receiver.one(copy)), "again");
    assertEquals(await exported(), hers, "a copy does not take it from an equal owner");
  }
});

Deno.test("T74: before any message it is exported as that of the device that is best known", async () => {
  const { exported, hers } = await claimed("unsigned", "verified");
  assertEquals(await exported(), hers);
});

Deno.test("T74: a copy that is shown first counts only until a better known device's message comes", async () => {
  const { receiver, alice, exported, hers } = await claimed("unsigned", "cross-signed");
  const event = alice.say("yes");
  assertEquals(told(await receiver.one({ ...event, event_id: "$copy", sender: MALLORY })), "yes");
  assertEquals(told(await receiver.one(event)), "yes");
  assertEquals(await exported(), hers);
});

Deno.test("T74: of a user's devices the best known one names the session", async () => {
  const receiver = new Receiver();
  const evil = newDevice(receiver, ALICE, { deviceId: "EVIL", trust: "unsigned" });
  const squatter = new Sender(receiver, receiver.devices.put(evil));
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const { session_id, session_key } = alice.roomKey;
  await receiver.key(squatter, { session_id, session_key });
  await receiver.key(alice);
  await receiver.one(alice.say("hello"));
  const ref = { roomId: ROOM, sessionId: alice.sessionId };
  const session = await receiver.step((tx) => receiver.inbound.exportSession(tx, ref));
  assertEquals(session?.senderEd25519, alice.device.ed25519);
});

Deno.test("T74: what a forward says counts less than the device that sent the key itself", async () => {
  const receiver = new Receiver();
  const alice = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  const mallory = receiver.devices.put(newDevice(receiver, MALLORY));
  using session = receiver.context.vodozemac.megolm.createInbound(alice.roomKey.session_key);
  const ref = { roomId: ROOM, sessionId: alice.sessionId };
  await receiver.step((tx) =>
    receiver.inbound.import(tx, {
      ...ref,
      sessionKey: session.exportAt() ?? "",
      senderKey: mallory.curve25519,
      senderEd25519: mallory.ed25519,
      source: "forwarded",
    })
  );
  await receiver.key(alice);
  const exported = await receiver.step((tx) => receiver.inbound.exportSession(tx, ref));
  assertEquals(exported?.senderEd25519, alice.device.ed25519);
});
