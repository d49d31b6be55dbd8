/**
 * A spoiled ratchet that comes before the owner's key. Keys of backups, files and forwards are not
 * signed: whoever can write into one of them can give a known session another ratchet. The key that
 * the session's owner then sends is signed with the session's own key. What is not signed must give
 * way to it, from the first message on that the signed one opens; and what could not be read
 * meanwhile is read then.
 *
 * Class of mistake: "the first stays" between things of which one is proved and the other is not.
 */

import { assertEquals } from "@std/assert";
import { ALICE, newDevice, Receiver, Sender, told } from "../../megolm/support.ts";

function newSender(receiver: Receiver): Sender {
  return new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
}

/** The key as a backup would have it. */
function exportedKey(receiver: Receiver, sessionKey: string): string {
  using session = receiver.context.vodozemac.megolm.createInbound(sessionKey);
  return session.exportAt() ?? "";
}

/**
 * The same with one part of its ratchet spoiled: 0 is what the others are made of, 3 what only 256
 * messages need.
 */
function damaged(exported: string, part: number): string {
  const bytes = Uint8Array.fromBase64(exported + "=".repeat((4 - exported.length % 4) % 4));
  const at = 5 + 32 * part; // behind the version and the index
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toBase64({ omitPadding: true });
}

async function restore(receiver: Receiver, { device, roomId, sessionId }: Sender, sessionKey: string) {
  const { curve25519: senderKey, ed25519: senderEd25519 } = device;
  const key = { roomId, sessionId, sessionKey, senderKey, senderEd25519, source: "backup" } as const;
  return (await receiver.step((tx) => receiver.inbound.import(tx, key))).kind;
}

for (const part of [0, 1, 2, 3]) {
  Deno.test(`T81: a ratchet that is damaged in part ${part} gives way to the key that the owner sends`, async () => {
    const receiver = new Receiver();
    const alice = newSender(receiver);
    await restore(receiver, alice, damaged(exportedKey(receiver, alice.roomKey.session_key), part));
    const event = alice.say("one");
    assertEquals(told(await receiver.one(event)), "MISSING_KEY", "it may still come");
    assertEquals((await receiver.key(alice)).kind, "improved");
    assertEquals(told(await receiver.one(event)), "one");
    receiver.restart();
    assertEquals((await receiver.decrypt(event, alice.say("two"))).map(told), ["one", "two"]);
  });
}

Deno.test("T81: a signed key that comes from a later message on wins what it opens, and what is right before stays", async () => {
  const receiver = new Receiver();
  const alice = newSender(receiver);
  const exported = exportedKey(receiver, alice.roomKey.session_key);
  const early = alice.say("early");
  const later = alice.laterKey();
  const late = alice.say("late");
  await restore(receiver, alice, damaged(exported, 0));
  assertEquals((await receiver.key(alice, later)).kind, "improved");
  assertEquals((await receiver.decrypt(early, late)).map(told), ["KEY_TOO_NEW", "late"]);
  assertEquals(await restore(receiver, alice, damaged(exported, 0)), "refused");
  assertEquals(await restore(receiver, alice, exported), "improved");
  assertEquals((await receiver.decrypt(early, late)).map(told), ["early", "late"]);
  assertEquals(
    (await receiver.key(alice, later)).kind,
    "known",
    "what fits loses nothing to a later signed key",
  );
  assertEquals(told(await receiver.one(early)), "early");
});

Deno.test("T81: damage that lies before a signed key gives way to a signed key from before it", async () => {
  const receiver = new Receiver();
  const alice = newSender(receiver);
  const exported = exportedKey(receiver, alice.roomKey.session_key);
  const first = alice.say("0");
  const middle = alice.laterKey();
  const second = alice.say("1");
  for (let index = 2; index < 256; index++) alice.session.encrypt("x");
  const later = alice.laterKey();
  const last = alice.say("256");
  await receiver.key(alice, later);
  // Part 3 is derived again from part 2 every 256 messages: the spoiled ratchet fits the signed
  // one.
  assertEquals(await restore(receiver, alice, damaged(exported, 3)), "improved");
  assertEquals((await receiver.decrypt(first, second, last)).map(told), [
    "MISSING_KEY",
    "MISSING_KEY",
    "256",
  ]);
  assertEquals((await receiver.key(alice, middle)).kind, "improved");
  receiver.restart();
  assertEquals((await receiver.decrypt(first, second, last)).map(told), ["KEY_TOO_NEW", "1", "256"]);
  assertEquals(await restore(receiver, alice, exported), "improved");
  assertEquals((await receiver.decrypt(first, second, last)).map(told), ["0", "1", "256"]);
});

Deno.test("T81: between two signed ratchets of one session the first stays", async () => {
  const receiver = new Receiver();
  const alice = newSender(receiver);
  await receiver.key(alice);
  const event = alice.say("hello");
  // Only the signing key of the session, and so its state, can sign another ratchet for it.
  const { megolm } = receiver.context.vodozemac;
  const state = alice.session.state();
  const forged = forkedKey(receiver, alice);
  using other = megolm.restoreOutbound(state);
  assertEquals(other.sessionId, alice.sessionId);
  assertEquals((await receiver.key(alice, { session_key: forged })).kind, "refused");
  assertEquals(told(await receiver.one(event)), "hello");
});

Deno.test("T81: a message that its own signed key does not open is not waited for", async () => {
  const receiver = new Receiver();
  const alice = newSender(receiver);
  const { event, session_key } = unreadable(receiver, alice);
  await receiver.key(alice, { session_key });
  assertEquals(told(await receiver.one(event)), "MALFORMED");
});

/**
 * A key with another ratchet that the session's own key has signed: only its owner can make one.
 */
function forkedKey({ context }: Receiver, { session, sessionId }: Sender): string {
  using inbound = context.vodozemac.megolm.createInbound(session.sessionKey());
  const forged = session.signKey(damaged(inbound.exportAt() ?? "", 1));
  using check = context.vodozemac.megolm.createInbound(forged);
  assertEquals(check.sessionId, sessionId);
  return forged;
}

function unreadable(receiver: Receiver, sender: Sender) {
  return { session_key: forkedKey(receiver, sender), event: sender.say("can't be decrypted") };
}
