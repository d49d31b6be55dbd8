/**
 * A relation in clear that contradicts the encrypted one, and edits in clear of encrypted events.
 */

import { assertEquals } from "@std/assert";
import type { MessageEvent } from "@greenroom/matrix/types";
import { knownSender, read, Receiver } from "../../megolm/support.ts";

/** The event with another relation in clear. */
function relating(event: MessageEvent, clear: unknown): MessageEvent {
  return { ...event, content: { ...event.content, "m.relates_to": clear } };
}

Deno.test("T43: a relation inside an encrypted event wins over the one in clear", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const inside = { rel_type: "m.thread", event_id: "$root" };
  const outside = { rel_type: "m.replace", event_id: "$other" };
  const content = { body: "hello", "m.relates_to": inside };
  const event = sender.wrap({ type: "m.room.message", content });
  for (const clear of [outside, inside, undefined, {}]) {
    assertEquals(read(await receiver.one(relating(event, clear))).content, content);
  }
});

Deno.test("T43: the relation in clear counts if there is none inside", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const event = sender.say("hello");
  const clear = { rel_type: "m.thread", event_id: "$root" };
  assertEquals(read(await receiver.one(relating(event, clear))).content["m.relates_to"], clear);
  for (const odd of ["x", null, [clear], 5]) {
    assertEquals(Object.keys(read(await receiver.one(relating(event, odd))).content), ["msgtype", "body"]);
  }
});

Deno.test("T43: an edit in clear of an encrypted event is not shown with it, nor one of another user", async () => {
  const receiver = new Receiver();
  const sender = await knownSender(receiver);
  const other = await knownSender(receiver, "@bob:example.org");
  const original = sender.say("original");
  const content = {
    body: "* forged",
    "m.new_content": { body: "forged" },
    "m.relates_to": { rel_type: "m.replace", event_id: original.event_id },
  };
  const clear = { ...sender.say(""), type: "m.room.message", content };
  const foreign = other.wrap({ type: "m.room.message", content });
  for (const edit of [clear, foreign]) {
    const bundled = { ...original, unsigned: { "m.relations": { "m.replace": edit } } };
    assertEquals(read(await receiver.one(bundled)).unsigned, { "m.relations": {} });
  }
});
