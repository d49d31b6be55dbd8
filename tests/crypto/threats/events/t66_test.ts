/**
 * T66: The server claims that a verified device encrypted an event that came in clear.
 *
 * It puts the members that decryption adds into what it shows: into history, into bundled events
 * without a key, into what the application passes in itself. No JSON makes an event an encrypted
 * one: the result of decryption is where JSON can't reach, on its way to handlers, between threads
 * and in the store.
 *
 * The class of mistake: our statement and the server's stand in the same place, and each way in has
 * to remember to wipe that place.
 */

import { assert, assertEquals } from "@std/assert";
import { encryptionOf } from "@greenroom/matrix";
import { type JsonObject, type MatrixEvent, type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { encryptionsOf, noteEncryption } from "../../../../src/types/events/encryption_info.ts";
import { decodeValue, encodeValue } from "../../../../src/store/base/mod.ts";
import { twoInARoom } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { ALICE, knownSender, newDevice, read, Receiver, Sender } from "../../megolm/support.ts";
import { POISON, poison } from "../poison.ts";

Deno.test("T66: an event of the history stays one in clear, also when the application has it delivered", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  await alice.sendText(roomId, "Pay him", { disableEncryption: true });
  const seen: unknown[] = [];
  bob.on("m.room.message", (event) => void seen.push([event.content.body, encryptionOf(event)]));
  const { chunk: [event] } = poison(await bob.getMessages(roomId, "b", undefined, { limit: 1 }));
  assert(event !== undefined);
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  bob.dispatchEvent({ ...event, source } as MatrixEvent, source);
  await Promise.all(
    await bob.handleSync({
      next_batch: "n",
      rooms: { join: { "!clear:a": { timeline: { events: [event] } } } },
    }),
  );
  assertEquals(seen, [["Pay him", undefined], ["Pay him", undefined]]);
});

Deno.test("T66: what is bundled with an event and can't be read says nothing of itself", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const locked = new Sender(receiver, newDevice(receiver, ALICE));
  const root = sender.say("root");
  const { source: _, ...latest } = locked.say("can't be decrypted");
  const event = poison({
    ...root,
    unsigned: {
      "m.relations": { "m.thread": { latest_event: latest, count: 1, current_user_participated: false } },
    },
  });
  const decrypted = read(await receiver.one(event as unknown as MessageEvent));
  const shown = decrypted.unsigned?.["m.relations"]?.["m.thread"]?.latest_event;
  assert(shown?.type === "m.room.encrypted");
  assertEquals(encryptionOf(shown), undefined);
  assertEquals(encryptionOf(decrypted)?.sessionId, sender.sessionId);
});

Deno.test("T66: what is said inside an encrypted event does not say how it was encrypted", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const forged = sender.wrap({ type: "m.room.message", content: { body: "x", ...POISON }, ...POISON });
  const decrypted = read(await receiver.one(forged));
  assertEquals(encryptionOf(decrypted)?.sessionId, sender.sessionId);
  assertEquals(decrypted.source, forged.source);
});

Deno.test("T66: a copy keeps how an event was encrypted, and what went through a store has it written beside", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const root = sender.say("root");
  const { source: _, ...edit } = sender.wrap({
    type: "m.room.message",
    content: { "m.new_content": {}, "m.relates_to": { rel_type: "m.replace", event_id: root.event_id } },
  });
  const event = read(
    await receiver.one(
      { ...root, unsigned: { "m.relations": { "m.replace": edit } } } as unknown as MessageEvent,
    ),
  );
  const indices = (of: MessageEvent) => {
    const inner = of.unsigned?.["m.relations"]?.["m.replace"];
    return [encryptionOf(of)?.messageIndex, inner && encryptionOf(inner)?.messageIndex];
  };
  assertEquals(indices(event), [0, 1]);
  assertEquals(indices({ ...event, content: {} }), [0, 1]);
  const kept = decodeValue(encodeValue({ event, encryptions: encryptionsOf(event) })) as {
    readonly event: MessageEvent;
    readonly encryptions: JsonObject;
  };
  assertEquals(indices(kept.event), [undefined, undefined]);
  assertEquals(indices(noteEncryption(kept.event, kept.encryptions)), [0, 1]);
});
