import { assertEquals } from "@std/assert";
import type { JsonObject, MessageEvent } from "@greenroom/matrix/types";
import { ALICE, knownSender, read, Receiver, Sender, toDevice, told } from "./support.ts";
import { encryptionOf } from "../../../src/types/events/encryption_info.ts";

const replacing = (event_id: string) => ({ rel_type: "m.replace", event_id });

/** An encrypted edit of a message. */
function edit(sender: Sender, original: MessageEvent, change: JsonObject = {}): MessageEvent {
  const content = {
    body: "* new",
    "m.new_content": { body: "new" },
    "m.relates_to": replacing(original.event_id),
    ...change,
  };
  return sender.wrap({ type: "m.room.message", content });
}

/** What the server shows of an event within another. */
function shown(event: MessageEvent, change: JsonObject = {}): JsonObject {
  const { source: _source, ...sent } = event;
  return { ...sent, ...change };
}

/** The bundle of an event once that was decrypted. */
async function bundleOf(
  receiver: Receiver,
  event: MessageEvent,
  relations: unknown,
): Promise<JsonObject | undefined> {
  const decrypted = await receiver.one(
    { ...event, unsigned: { age: 1, "m.relations": relations } } as MessageEvent,
  );
  const { unsigned } = read(decrypted);
  assertEquals(unsigned?.age, 1);
  return unsigned?.["m.relations"] as JsonObject | undefined;
}

Deno.test("a bundled edit is decrypted with the event that it replaces", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const original = sender.say("old");
  const { room_id: _room, ...sent } = shown(edit(sender, original)); // in a sync response it says no room

  const bundle = await bundleOf(receiver, original, { "m.replace": sent });

  const found = bundle?.["m.replace"] as MessageEvent;
  assertEquals(found.type, "m.room.message");
  assertEquals(found.content["m.new_content"], { body: "new" });
  assertEquals(encryptionOf(found)?.messageIndex, 1);
  assertEquals(found.room_id, original.room_id);
});

Deno.test("a bundled edit that is not what the server says it is goes", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const other = await knownSender(receiver, "@bob:example.org");
  const original = sender.say("old");
  const good = edit(sender, original);
  const clear = { ...shown(good), type: "m.room.message", content: { "m.new_content": {}, body: "forged" } };
  const cases: Record<string, unknown> = {
    "in clear": clear,
    "by another user": shown(edit(other, original)),
    "by another user, in the name of the sender": shown(edit(other, original), { sender: ALICE }),
    "of another event": shown(edit(sender, sender.say("another"))),
    "no edit inside": shown(edit(sender, original, { "m.relates_to": undefined })),
    "another relation to the event": shown(
      edit(sender, original, { "m.relates_to": { rel_type: "m.reference", event_id: original.event_id } }),
    ),
    "an edit only outside": shown(
      sender.wrap({ type: "m.room.message", content: { body: "", "m.new_content": {}, "m.relates_to": {} } }),
    ),
    "without new content": shown(edit(sender, original, { "m.new_content": undefined })),
    "of another room": shown(good, { room_id: "!other:example.org" }),
    "of another type": shown(
      sender.wrap({
        type: "m.sticker",
        content: { "m.new_content": {}, "m.relates_to": replacing(original.event_id) },
      }),
    ),
    "state": shown(good, { state_key: "" }),
    "not an event": "edit",
    "nothing": null,
    "of another type outside": shown(good, { type: "m.room.message" }),
    "without content": shown(good, { content: null }),
    "broken": shown(good, { content: { algorithm: "m.megolm.v1.aes-sha2" } }),
  };
  for (const [name, sent] of Object.entries(cases)) {
    const bundle = await bundleOf(receiver, original, { "m.replace": sent, "m.reference": { chunk: [] } });
    assertEquals([name, bundle], [name, { "m.reference": { chunk: [] } }]);
  }
});

Deno.test("a bundled event that can't be read yet stays as it is", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const later = new Sender(receiver, sender.device);
  const original = sender.say("old");
  const sent = shown(edit(later, original));
  assertEquals(await bundleOf(receiver, original, { "m.replace": sent }), { "m.replace": sent });
});

Deno.test("a bundled event whose key is withheld, or begins later, stays as it is", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const [withheld, late] = [new Sender(receiver, sender.device), new Sender(receiver, sender.device)];
  const { algorithm, room_id, session_id } = withheld.roomKey;
  const content = {
    algorithm,
    room_id,
    session_id,
    sender_key: sender.device.curve25519,
    code: "m.unverified",
  };
  const notice = toDevice(ALICE, "m.room_key.withheld", content);
  await receiver.step((tx) => receiver.inbound.withheld.receive(tx, notice));
  for (const other of [withheld, late]) {
    const original = sender.say("old");
    const sent = shown(edit(other, original));
    if (other === late) await receiver.key(late, { session_key: late.laterKey().session_key });
    assertEquals(await bundleOf(receiver, original, { "m.replace": sent }), { "m.replace": sent });
  }
});

Deno.test("bundled relations of an edit of a thread's latest event are removed", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const root = sender.say("root");
  const inThread = { rel_type: "m.thread", event_id: root.event_id };
  const reply = sender.wrap({ type: "m.room.message", content: { body: "reply", "m.relates_to": inThread } });
  const corrected = edit(sender, reply);
  const deepest = { "m.relations": { "m.replace": shown(edit(sender, corrected)) } };
  const deeper = { "m.relations": { "m.replace": shown(corrected, { unsigned: deepest }) } };

  const bundle = await bundleOf(receiver, root, {
    "m.thread": { latest_event: shown(reply, { unsigned: deeper }) },
  });

  const { latest_event } = bundle?.["m.thread"] as { latest_event: MessageEvent };
  const replaced = latest_event.unsigned?.["m.relations"]?.["m.replace"] as MessageEvent;
  assertEquals(replaced.content.body, "* new");
  assertEquals(replaced.unsigned, { "m.relations": {} });
});

Deno.test("the latest event of a thread is decrypted, and an edit of it too", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const root = sender.say("root");
  const inThread = { rel_type: "m.thread", event_id: root.event_id };
  const reply = sender.wrap({ type: "m.room.message", content: { body: "reply", "m.relates_to": inThread } });
  const corrected = shown(edit(sender, reply));
  const latest_event = shown(reply, { unsigned: { "m.relations": { "m.replace": corrected } } });
  const thread = { latest_event, count: 1, current_user_participated: true };

  const bundle = await bundleOf(receiver, root, { "m.thread": thread });

  const found = bundle?.["m.thread"] as { latest_event: MessageEvent; count: number };
  assertEquals(found.count, 1);
  assertEquals(found.latest_event.content.body, "reply");
  assertEquals(encryptionOf(found.latest_event)?.sessionId, sender.sessionId);
  const replaced = found.latest_event.unsigned?.["m.relations"]?.["m.replace"] as MessageEvent;
  assertEquals(replaced.content.body, "* new");
});

Deno.test("a thread whose latest event does not belong to it goes", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const root = sender.say("root");
  const relations = [
    undefined,
    { rel_type: "m.thread", event_id: "$other" },
    { rel_type: "m.reference", event_id: root.event_id },
  ];
  for (const relation of relations) {
    const content = { body: "stray", "m.relates_to": relation };
    const stray = sender.wrap({ type: "m.room.message", content });
    const thread = { latest_event: shown(stray), count: 1, current_user_participated: true };
    assertEquals(await bundleOf(receiver, root, { "m.thread": thread }), {});
  }
});

Deno.test("an event that came by itself counts before one that the server only shows", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const original = sender.say("old");
  const change = edit(sender, original);
  const forged = shown(change, { event_id: "$forged" });
  const first = {
    ...original,
    unsigned: { "m.relations": { "m.replace": forged } },
  } as unknown as MessageEvent;
  const [one, two] = await receiver.decrypt(first, change);
  assertEquals(told(two), "* new");
  assertEquals(read(one).unsigned?.["m.relations"], {});
});

Deno.test("bundles in bundles end at some depth, and odd ones do no harm", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver, "@alice:example.org");
  const root = sender.say("root");
  let bundle: JsonObject = {};
  for (let depth = 0; depth < 10_000; depth++) {
    bundle = { "m.thread": { latest_event: shown(root, { unsigned: { "m.relations": bundle } }) } };
  }
  await bundleOf(receiver, root, bundle);
  for (const odd of [null, [], "x", { "m.thread": 5 }, { "m.thread": { latest_event: [] } }]) {
    await bundleOf(receiver, sender.say("root"), odd);
  }
});
