import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { mentionsRoom, mentionsUser, readText, stripReplyFallback, withoutName } from "@greenroom/matrix/bot";
import { took } from "./took.ts";

const BOT = "@stage-bot:a.b";
const text = (body: string, more = {}) => ({ msgtype: "m.text", body, ...more });
const html = (formatted_body: string) => ({ format: "org.matrix.custom.html", formatted_body });

Deno.test("readText() reads text with and without formatting", () => {
  assertEquals(readText(text("a")), { text: "a", isEdit: false });
  assertEquals(readText(text("a", html("<b>a</b><script>b</script>"))), {
    text: "a",
    html: "<b>a</b>",
    isEdit: false,
  });
  assertEquals(readText(text("a", { ...html("<b>a</b>"), format: "other" })), { text: "a", isEdit: false });
});

Deno.test("readText() tells edits, and reads what is new in them", () => {
  const relation = { "m.relates_to": { rel_type: "m.replace", event_id: "$a" } };
  assertEquals(
    readText(text("* b", { ...relation, "m.new_content": text("b", html("<i>b</i>")) })),
    { text: "b", html: "<i>b</i>", isEdit: true, edits: "$a" },
  );
  assertEquals(readText(text("* b", relation)), { text: "b", isEdit: true, edits: "$a" });
});

Deno.test("readText() tells a reply, one in a thread, and what only stands in a thread", () => {
  const answer = { "m.in_reply_to": { event_id: "$q" } };
  const thread = { rel_type: "m.thread", event_id: "$t", ...answer };
  const read = (relation: unknown) => readText(text("a", { "m.relates_to": relation }));
  assertEquals(read(answer), { text: "a", isEdit: false, replyTo: "$q" });
  assertEquals(read({ ...thread, is_falling_back: true }), { text: "a", isEdit: false, threadRoot: "$t" });
  assertEquals(read(thread), { text: "a", isEdit: false, replyTo: "$q", threadRoot: "$t" });
  assertEquals(read({ rel_type: "m.reference", event_id: "$t" }), { text: "a", isEdit: false });
});

Deno.test("readText() takes the quote of old clients away from replies, and no other", () => {
  const quoted = "> <@a:b.c> x\n> y\n\nz";
  const reply = { "m.relates_to": { "m.in_reply_to": { event_id: "$q" } } };
  assertEquals(readText(text(quoted, reply)).text, "z");
  assertEquals(readText(text(quoted, { ...reply, ...html("<mx-reply>q</mx-reply>z") })).html, "z");
  assertEquals(readText(text(quoted)).text, quoted);
  assertEquals(readText(text("> my own quote\n\nz", reply)).text, "> my own quote\n\nz");
  assertEquals(stripReplyFallback("> * <@a:b.c> x\n\nz\n\n> w"), "z\n\n> w");
  assertEquals(stripReplyFallback("> <@a:b.c> x"), "");
  assertEquals(stripReplyFallback("> <@a:b.c> x\r\n> y\r\n\r\nz\r\nw"), "z\r\nw");
});

Deno.test("readText() takes the name of a file for no text, but its caption", () => {
  assertEquals(readText({ msgtype: "m.image", body: "!ping.png" }).text, "");
  assertEquals(readText({ msgtype: "m.file", body: "a.txt", filename: "a.txt" }).text, "");
  assertEquals(readText({ msgtype: "m.image", body: "look", filename: "a.png" }).text, "look");
});

Deno.test("readText() and mentionsUser() read anything without failing", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (a, b, c) => {
    for (
      const content of [a, { body: a, "m.relates_to": b, "m.mentions": c, formatted_body: c, format: b }]
    ) {
      assertEquals(typeof readText(content).text, "string");
      assertEquals(typeof mentionsUser(content, BOT), "boolean");
    }
  }));
});

Deno.test("mentionsUser() believes m.mentions and nothing else where it is there", () => {
  const pill = html(`<a href="https://matrix.to/#/${BOT}">Stage bot</a>`);
  assert(mentionsUser(text("x", { "m.mentions": { user_ids: [BOT] } }), BOT));
  assert(!mentionsUser(text(BOT, { ...pill, "m.mentions": {} }), BOT));
  assert(!mentionsUser(text(BOT, { ...pill, "m.mentions": { user_ids: [`${BOT}x`], room: true } }), BOT));
  assert(!mentionsUser(text(BOT, { "m.mentions": { user_ids: { [BOT]: true } } }), BOT));
  assert(mentionsRoom(text("x", { "m.mentions": { room: true } })));
  assert(!mentionsRoom(text("@room", { "m.mentions": { room: "yes" } })) && !mentionsRoom(text("@room")));
});

Deno.test("mentionsUser() takes a link or a name at the beginning for a mention by an old client, not a quoted one", () => {
  const pill = `<a href="https://matrix.to/#/${BOT}">Stage bot</a>`;
  assert(mentionsUser(text("hey", html(`hey ${pill}`)), BOT));
  assert(!mentionsUser(text("hey", html(`<blockquote>${pill}</blockquote>hey`)), BOT));
  assert(
    !mentionsUser(
      text("hey", html(`<mx-reply><a href="https://matrix.to/#/${BOT}">x</a></mx-reply>hey`)),
      BOT,
    ),
  );
  assert(mentionsUser(text("Stage Bot: ping"), BOT, "stage bot"));
  assert(mentionsUser(text("stage-bot ping"), BOT));
  assert(!mentionsUser(text("ping Stage Bot"), BOT, "Stage Bot"));
  assert(!mentionsUser(text("> stage-bot: ping\n\nno"), BOT));
  const reply = { "m.relates_to": { "m.in_reply_to": { event_id: "$q" } } };
  assert(!mentionsUser(text(`> <${BOT}> a\n\nno`, reply), BOT));
  assert(mentionsUser(text("> <@x:y> a\n\nstage-bot: yes", reply), BOT));
});

Deno.test("withoutName() takes a name away with what parts it from the text", () => {
  assertEquals(withoutName("Stage Bot, ping", BOT, "Stage Bot"), "ping");
  assertEquals(withoutName(`${BOT} ping`, BOT), "ping");
  assertEquals(withoutName("@stage-bot:  ping", BOT), "ping");
  assertEquals(withoutName("stage-bot", BOT), "");
  assertEquals(withoutName("stage-bots ping", BOT), undefined);
  assertEquals(withoutName("anything", BOT, ""), undefined);
});

Deno.test("readText() and mentionsUser() take well under a second for a megabyte", () => {
  for (const part of ["> <@a:b> x\n", "> ", "<b>", " ", ": "]) {
    const content = text(`> <@a:b> x\n${part.repeat(1_000_000 / part.length)}`, {
      ...html(part.repeat(1_000_000 / part.length)),
      "m.relates_to": { "m.in_reply_to": { event_id: "$q" } },
    });
    took(1_000, part, () => mentionsUser(content, BOT, "Stage Bot"));
  }
});
