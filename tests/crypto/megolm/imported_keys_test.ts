/** Keys that came by way of others, and what becomes of them when others come. */

import { assert, assertEquals } from "@std/assert";
import type { InboundGroupSession } from "@greenroom/vodozemac-wasm";
import type { ImportedRoomKey } from "../../../src/crypto/megolm/mod.ts";
import { inboundKey } from "../../../src/crypto/megolm/inbound_record.ts";
import { ALICE, newDevice, Receiver, ROOM, Sender, told } from "./support.ts";

/** Imports a sender's session from an index on. */
function importFrom(receiver: Receiver, sender: Sender, {
  index = 0,
  ...change
}: Partial<ImportedRoomKey> & { readonly index?: number } = {}) {
  using session = receiver.context.vodozemac.megolm.createInbound(sender.roomKey.session_key);
  const { curve25519: senderKey, ed25519: senderEd25519 } = sender.device;
  const { sessionId } = sender;
  const sessionKey = session.exportAt(index) ?? "";
  const key = { roomId: ROOM, sessionId, sessionKey, senderKey, senderEd25519, source: "backup" } as const;
  return receiver.step((tx) => receiver.inbound.import(tx, { ...key, ...change }));
}

function newSender(receiver: Receiver): Sender {
  return new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
}

function exported(receiver: Receiver, { sessionId }: Sender) {
  return receiver.step((tx) => receiver.inbound.exportSession(tx, { roomId: ROOM, sessionId }));
}

function record(receiver: Receiver, { sessionId }: Sender) {
  return receiver.step((tx) => tx.get(inboundKey(ROOM, sessionId)));
}

Deno.test("the first claim of an imported session comes first, whatever its other keys say", async () => {
  const receiver = new Receiver();
  const [sender, other] = [newSender(receiver), newDevice(receiver, ALICE)];
  const said = { senderKey: other.curve25519, senderEd25519: other.ed25519, sharedHistory: true };
  assertEquals((await importFrom(receiver, sender, { index: 2 })).kind, "added");
  assertEquals(
    (await importFrom(receiver, sender, { index: 2, ...said })).kind,
    "improved",
    "it is kept too",
  );
  assertEquals((await importFrom(receiver, sender, { index: 2, ...said })).kind, "known");
  assertEquals((await importFrom(receiver, sender, { index: 1, ...said })).kind, "improved");
  assertEquals((await importFrom(receiver, sender, said)).kind, "improved");
  const { content, senderEd25519, sharedHistory, firstIndex } = await exported(receiver, sender) ?? {};
  const { curve25519, ed25519 } = sender.device;
  assertEquals([content?.sender_key, senderEd25519], [curve25519, ed25519]);
  assertEquals([sharedHistory, firstIndex], [false, 0]);
});

Deno.test("an imported key is refused that names no room, no session or no device, with what is missing", async () => {
  const receiver = new Receiver();
  const sender = newSender(receiver);
  const unnamed = "it names no room or no session";
  for (
    const [change, reason] of [
      [{ roomId: "room" as typeof ROOM }, unnamed],
      [{ sessionId: "session" }, unnamed],
      [{ senderKey: "device" }, "it does not say whose it is"],
    ] as const
  ) assertEquals(await importFrom(receiver, sender, change), { kind: "refused", reason });
});

Deno.test("an imported key with an invalid signing key of its device says nothing about that device", async () => {
  const receiver = new Receiver();
  const sender = newSender(receiver);
  await importFrom(receiver, sender, { senderEd25519: "no key" });
  assertEquals((await exported(receiver, sender))?.senderEd25519, "");
});

Deno.test("the sender's own later keys prove an imported session, which stays readable from where it was", async () => {
  const receiver = new Receiver();
  const sender = newSender(receiver);
  const events = [sender.say("0")];
  const second = sender.laterKey();
  events.push(sender.say("1"));
  const third = sender.laterKey();
  events.push(sender.say("2"));
  await importFrom(receiver, sender);
  assertEquals((await receiver.key(sender, third)).kind, "improved");
  assertEquals((await record(receiver, sender))?.signedFrom, 2);
  assertEquals((await receiver.key(sender, second)).kind, "known");
  assertEquals((await record(receiver, sender))?.signedFrom, 1);
  assertEquals((await exported(receiver, sender))?.firstIndex, 0);
  assertEquals((await receiver.decrypt(...events)).map(told), ["0", "1", "2"]);
  assertEquals((await record(receiver, sender))?.signedFrom, 1, "messages take nothing from it");
});

Deno.test("a key that is not kept is not held in memory", async () => {
  const receiver = new Receiver();
  const { megolm } = receiver.context.vodozemac;
  const made: InboundGroupSession[] = [];
  const createInbound = (key: string) => {
    const session = megolm.createInbound(key);
    made.push(session);
    return session;
  };
  Object.defineProperty(receiver.context, "vodozemac", { value: { megolm: { createInbound } } });
  const sender = new Sender(
    { context: { vodozemac: { megolm } } } as Receiver,
    newDevice(new Receiver(), ALICE),
  );
  const kinds = [await receiver.key(sender), await receiver.key(sender)].map(({ kind }) => kind);
  assertEquals(kinds, ["added", "known"]);
  const { session_key } = new Sender(new Receiver(), sender.device).roomKey;
  assertEquals((await receiver.key(sender, { session_key })).kind, "refused");
  assertEquals(made.map(({ disposed }) => disposed), [false, true, true]);
  receiver.inbound.clear();
  assert(made[0]?.disposed);
});

Deno.test("keys of a file drive out no session that is in use, and replace the one that reads less", async () => {
  const receiver = new Receiver();
  const sender = newSender(receiver);
  const early = sender.say("early");
  await receiver.key(sender, sender.laterKey());
  const late = sender.say("late");
  assertEquals((await receiver.decrypt(early, late)).map(told), ["KEY_TOO_NEW", "late"]);
  const { megolm } = receiver.context.vodozemac;
  const kept: InboundGroupSession[] = [];
  const importInbound = (key: string) => kept[kept.push(megolm.importInbound(key)) - 1];
  const restoreInbound = (state: Uint8Array) => kept[kept.push(megolm.restoreInbound(state)) - 1];
  const createInbound = (key: string) => megolm.createInbound(key);
  const value = { megolm: { createInbound, importInbound, restoreInbound } };
  Object.defineProperty(receiver.context, "vodozemac", { value });
  assertEquals((await importFrom(receiver, sender, { source: "export" })).kind, "improved");
  assertEquals(kept.map(({ disposed }) => disposed), [true, true]);
  assertEquals((await receiver.decrypt(early, late)).map(told), ["early", "late"]);
});
