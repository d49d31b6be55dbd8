/**
 * T78: The server relates an event to another one than its sender did.
 *
 * Servers need `m.relates_to` in clear, and some clients write it nowhere else, so it counts where
 * there is none inside: then a server can make the "yes" to one question the "yes" to another, put
 * a message into another thread, or show an edit with another event. Handlers see of each event
 * whether its relation was encrypted with it; only a bundled event that names its event inside is
 * shown.
 *
 * The class of mistake: what was in clear is put among what was decrypted, and nothing
 * distinguishes the two.
 */

import { assertEquals } from "@std/assert";
import { encryptionOf } from "@greenroom/matrix";
import type { MessageEvent } from "@greenroom/matrix/types";
import { begin, twoInARoom } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { knownSender, read, Receiver } from "../../megolm/support.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const QUESTION = { "m.in_reply_to": { event_id: "$pay" } };

/** The event with a relation in clear. */
function aimed(event: MessageEvent, relation: unknown): MessageEvent {
  return { ...event, content: { ...event.content, "m.relates_to": relation } };
}

Deno.test("T78: a relation that may be the server's differs from one that the sender wrote", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const said = (content: object) =>
    sender.wrap({ type: "m.room.message", content: { body: "yes", ...content } });
  const own = { "m.in_reply_to": { event_id: "$dinner" } };
  const cases: [event: MessageEvent, relation: unknown, from: unknown][] = [
    [aimed(said({}), QUESTION), QUESTION, "clear"],
    [aimed(said({ "m.relates_to": own }), QUESTION), own, "encrypted"],
    [said({ "m.relates_to": own }), own, "encrypted"],
    [aimed(said({ "m.relates_to": null }), QUESTION), null, undefined],
    [aimed(said({}), "no relation"), undefined, undefined],
    [said({}), undefined, undefined],
  ];
  for (const [event, relation, from] of cases) {
    const decrypted = read(await receiver.one(event));
    assertEquals([decrypted.content["m.relates_to"], encryptionOf(decrypted)?.relation], [relation, from]);
  }
});

Deno.test("T78: an edit, or the newest event of a thread, is not shown with an event that the server has aimed it at", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const original = sender.say("no");
  const { source: _, ...edit } = aimed(
    sender.wrap({ type: "m.room.message", content: { body: "yes", "m.new_content": { body: "yes" } } }),
    { rel_type: "m.replace", event_id: original.event_id },
  );
  const { source: _source, ...latest } = aimed(sender.say("yes"), {
    rel_type: "m.thread",
    event_id: original.event_id,
  });
  const thread = { latest_event: latest, count: 1, current_user_participated: false };
  const event = { ...original, unsigned: { "m.relations": { "m.replace": edit, "m.thread": thread } } };
  assertEquals(read(await receiver.one(event as unknown as MessageEvent)).unsigned, { "m.relations": {} });
});

Deno.test("T78: a bot sees that a server has aimed an answer at another question; what this library sends says it inside", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  const aiming: typeof fetch = async (input, init) => {
    const response = await stage.homeserver.fetch(new Request(input, init));
    const text = await response.text();
    const isSync = new URL(response.url || String(input instanceof Request ? input.url : input)).pathname
      .endsWith("/sync");
    const forged = text.replaceAll(
      '"algorithm":"m.megolm.v1.aes-sha2","ciphertext"',
      `"m.relates_to":${JSON.stringify(QUESTION)},$&`,
    );
    return new Response(isSync ? forged : text, response);
  };
  const carol = stage.client("carol", { encryption: EVERYBODY, fetch: aiming });
  await begin(stage, carol);
  await alice.inviteUser(roomId, "@carol:localhost");
  await carol.joinRoom(roomId);
  await stage.settle();
  const seen: unknown[] = [];
  carol.on("m.room.message", (event) => {
    const relation = event.content["m.relates_to"]?.["m.in_reply_to"]?.event_id;
    seen.push([event.content.body, relation, encryptionOf(event)?.relation]);
  });
  await alice.sendText(roomId, "yes");
  await alice.sendText(roomId, "of course", { relatesTo: { "m.in_reply_to": { event_id: "$dinner" } } });
  await stage.until(() => seen.length === 2);
  assertEquals(seen, [["yes", "$pay", "clear"], ["of course", "$dinner", "encrypted"]]);
});
