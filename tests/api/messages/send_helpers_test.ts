/**
 * Over 300 lines because it goes through all that sends messages.
 *
 * @module
 */

import { assertEquals, assertRejects } from "@std/assert";
import { noCipher } from "../../../src/api/media/media.ts";
import type {
  ContentURI,
  EventID,
  EventType,
  RoomID,
  RoomMessageContent,
  SendOptions,
} from "@greenroom/matrix/types";
import { ValueError } from "@greenroom/matrix/errors";
import { htmlToText, sendHelpersAPI } from "../../../src/api/messages/send_helpers.ts";

interface Sent {
  roomId: RoomID;
  type: EventType;
  content: object;
  options?: SendOptions;
}

/** The helpers, and what they handed to `sendMessageEvent()`. */
function helpers() {
  const sent: Sent[] = [];
  const api = sendHelpersAPI((roomId, type, content, options) => {
    const named = Object.fromEntries(Object.entries(options ?? {})); // but not which operation was called
    sent.push({ roomId, type, content, options: named });
    return Promise.resolve("$event");
  }, {
    upload: () => Promise.reject(new TypeError("Nothing is uploaded here")),
    cipher: noCipher,
    isEncrypted: () => Promise.reject(new TypeError("Not expected")),
    nextTransactionId: () => "t1",
  });
  return { api, sent, last: (): unknown => sent.at(-1)?.content };
}

const edit = { rel_type: "m.replace", event_id: "$old" } as const;
const reply = { "m.in_reply_to": { event_id: "$old" } } as const;
const html = { format: "org.matrix.custom.html", formatted_body: "<b>Go</b>" };
const url = "mxc://example.org/pic";

Deno.test("sendMessage() sends a string as sendText() does", async () => {
  const { api, sent, last } = helpers();
  await api.sendText("!room", "Go", { html: "<b>Go</b>", replyTo: "$old", txnId: "t" });
  const text = sent.at(-1);
  assertEquals(
    await api.sendMessage("!room", "Go", { html: "<b>Go</b>", replyTo: "$old", txnId: "t" }),
    "$event",
  );
  assertEquals(sent.at(-1), text);
  await api.sendMessage("!room", "Go");
  assertEquals(last(), { msgtype: "m.text", body: "Go" });
});

Deno.test("sendText() sends m.text, with formatting only if there is some", async () => {
  const { api, sent, last } = helpers();
  assertEquals(await api.sendText("!room", "Go"), "$event");
  assertEquals(sent[0], {
    roomId: "!room",
    type: "m.room.message",
    content: { msgtype: "m.text", body: "Go" },
    options: {},
  });
  await api.sendText("!room", "Go", { html: "<b>Go</b>", relatesTo: reply });
  assertEquals(last(), { msgtype: "m.text", body: "Go", ...html, "m.relates_to": reply });
  await api.sendText("!room", "", { msgtype: "m.emote" });
  assertEquals(last(), { msgtype: "m.emote", body: "" });
});

Deno.test("sendNotice() and sendEmote() are sendText() of another kind", async () => {
  const { api, last } = helpers();
  await api.sendNotice("!room", "Go", { html: "<b>Go</b>" });
  assertEquals(last(), { msgtype: "m.notice", body: "Go", ...html });
  await api.sendEmote("!room", null, { html: "<b>Go</b>", relatesTo: reply });
  assertEquals(last(), { msgtype: "m.emote", body: "Go", ...html, "m.relates_to": reply });
});

Deno.test("sendText() answers, goes into a thread and notifies as its options say", async () => {
  const { api, sent, last } = helpers();
  await api.sendText("!room", "Go", { replyTo: "$old" });
  assertEquals(last(), { msgtype: "m.text", body: "Go", "m.relates_to": reply });
  await api.sendNotice("!room", "Go", { thread: "$first", mentions: { user_ids: ["@alice:b.org"] } });
  assertEquals(last(), {
    msgtype: "m.notice",
    body: "Go",
    "m.mentions": { user_ids: ["@alice:b.org"] },
    "m.relates_to": {
      rel_type: "m.thread",
      event_id: "$first",
      is_falling_back: true,
      "m.in_reply_to": { event_id: "$first" },
    },
  });
  await api.sendEmote("!room", "Go", { thread: "$first", replyTo: "$old" });
  assertEquals((last() as RoomMessageContent)["m.relates_to"], {
    rel_type: "m.thread",
    event_id: "$first",
    ...reply,
  });
  const all = sent.length;
  await assertRejects(
    () => api.sendText("!room", "Go", { replyTo: "$old", relatesTo: edit }),
    ValueError,
    "not both",
  );
  await assertRejects(
    () => api.sendText("!room", "Go", { replyTo: "old" as EventID }),
    ValueError,
    "eventId",
  );
  assertEquals(sent.length, all);
});

Deno.test("mentions may be a list of users, with room for all, as in the bot kit", async () => {
  const { api, last } = helpers();
  await api.sendText("!room", "Go", { mentions: ["@alice:b.org", "room"] });
  assertEquals(last(), {
    msgtype: "m.text",
    body: "Go",
    "m.mentions": { user_ids: ["@alice:b.org"], room: true },
  });
  await api.sendFile("!room", url, { mentions: [] });
  assertEquals(last(), { msgtype: "m.file", body: "file", "m.mentions": {}, url });
  await api.edit("!room", "$old", "Went", { mentions: ["@alice:b.org"] });
  const { "m.new_content": changed } = last() as RoomMessageContent & { "m.new_content"?: object };
  assertEquals(changed, { msgtype: "m.text", body: "Went", "m.mentions": { user_ids: ["@alice:b.org"] } });
  await assertRejects(
    () => api.sendText("!room", "Go", { mentions: ["alice" as "room"] }),
    ValueError,
    'Cannot use "alice" as userId',
  );
  for (
    const [mentions, text] of [
      [["@room"], 'write "room" for all in the room'],
      ["room", 'mentions must be a list, as ["room"], and is string'],
    ] as const
  ) await assertRejects(() => api.sendText("!room", "Go", { mentions: mentions as never }), ValueError, text);
});

Deno.test("Files, images and stickers answer, go into a thread and notify as text does", async () => {
  const { api, last } = helpers();
  const mentions = { user_ids: ["@alice:b.org" as const] };
  const place = { replyTo: "$old", thread: "$first", mentions } as const;
  const shown = {
    "m.mentions": mentions,
    "m.relates_to": { rel_type: "m.thread", event_id: "$first", ...reply },
  };
  await api.sendFile("!room", url, place);
  assertEquals(last(), { msgtype: "m.file", body: "file", ...shown, url });
  await api.sendImage("!room", url, place);
  assertEquals(last(), { msgtype: "m.image", body: "image", ...shown, url });
  await api.sendSticker("!room", url, {}, place);
  assertEquals(last(), { body: "", url, info: {}, ...shown });
  await assertRejects(
    () => api.sendImage("!room", url, { ...place, relatesTo: edit }),
    ValueError,
    "not both",
  );
});

Deno.test("edit() says anew what a message says, with a fallback for clients that know no edits", async () => {
  const { api, last } = helpers();
  const mentions = { user_ids: ["@alice:b.org" as const] };
  await api.edit("!room", "$old", null, { html: "<b>Go</b>", msgtype: "m.notice", mentions });
  assertEquals(last(), {
    msgtype: "m.notice",
    body: "* Go",
    ...html,
    formatted_body: "* <b>Go</b>",
    "m.mentions": mentions,
    "m.relates_to": { rel_type: "m.replace", event_id: "$old" },
    "m.new_content": { msgtype: "m.notice", body: "Go", ...html, "m.mentions": mentions },
  });
  await assertRejects(() => api.edit("!room", "old" as EventID, "Go"), ValueError, "eventId");
});

Deno.test("sendText() hands on the mentions of a received event, whatever else they say", async () => {
  const { api, last } = helpers();
  const mentions = { user_ids: ["@alice:b.org" as const], "org.example": 1 };
  await api.sendText("!room", "Go", { mentions });
  assertEquals(last(), { msgtype: "m.text", body: "Go", "m.mentions": mentions });
});

Deno.test("sendFile() shows a caption beside the name, and notifies as its options say", async () => {
  const { api, last } = helpers();
  await api.sendFile("!room", url, { caption: "**Go**", captionHtml: "<b>Go</b>", mentions: { room: true } });
  assertEquals(last(), {
    msgtype: "m.file",
    body: "**Go**",
    filename: "file",
    ...html,
    "m.mentions": { room: true },
    url,
  });
  await api.sendImage("!room", url, { caption: "Go", fileName: "set.png" });
  assertEquals(last(), { msgtype: "m.image", body: "Go", filename: "set.png", url });
});

Deno.test("sendText() makes the text from the HTML if there is none, and refuses to send neither", async () => {
  const { api, sent, last } = helpers();
  for (const text of [null, undefined]) {
    await api.sendText("!room", text, { html: "<p>Ready, <i>steady</i></p><p>go &amp; run</p>" });
    assertEquals((last() as RoomMessageContent).body, "Ready, steady\n\ngo & run");
    await assertRejects(() => api.sendText("!room", text), ValueError, "neither");
    await assertRejects(() => api.sendNotice("!room", text, {}), ValueError, "neither");
  }
  assertEquals(sent.length, 2);
});

Deno.test("htmlToText() leaves reply fallbacks out, keeps targets of links, words of images and the case of headings", async () => {
  assertEquals(await htmlToText("<mx-reply><blockquote>You said</blockquote></mx-reply>Yes"), "Yes");
  assertEquals(await htmlToText('See <a href="https://a.org">here</a>'), "See here (https://a.org)");
  assertEquals(await htmlToText('See <a href="https://a.org">https://a.org</a>'), "See https://a.org");
  assertEquals(await htmlToText('<img src="mxc://a.org/1" alt=":cue:"> <img src="mxc://a.org/2">'), ":cue:");
  assertEquals(await htmlToText("<h1>Act one</h1><ul><li>a</li><li>b</li></ul>"), "Act one\n\n- a\n- b");
  assertEquals(await htmlToText(`<p>${"word ".repeat(60)}</p>`), "word ".repeat(60).trim());
});

Deno.test("A message that replaces another carries its new content and a fallback with a star", async () => {
  const { api, last } = helpers();
  await api.sendText("!room", "Go", { html: "<b>Go</b>", relatesTo: edit });
  assertEquals(last(), {
    msgtype: "m.text",
    body: "* Go",
    ...html,
    formatted_body: "* <b>Go</b>",
    "m.new_content": { msgtype: "m.text", body: "Go", ...html },
    "m.relates_to": edit,
  });
  await api.sendImage("!room", url, { fileName: "pic.png", relatesTo: edit });
  assertEquals(last(), {
    msgtype: "m.image",
    body: "* pic.png",
    filename: "pic.png",
    url,
    "m.new_content": { msgtype: "m.image", body: "pic.png", filename: "pic.png", url },
    "m.relates_to": edit,
  });
});

Deno.test("sendMessage() sends any content as it is, but completes an edit, and leaves a complete one alone", async () => {
  const { api, last } = helpers();
  const location = { msgtype: "m.location", body: "Here", geo_uri: "geo:1,2" } as const;
  await api.sendMessage("!room", location);
  assertEquals(last(), location);
  await api.sendMessage("!room", { ...location, "m.relates_to": edit });
  assertEquals(last(), { ...location, body: "* Here", "m.new_content": location, "m.relates_to": edit });
  const complete = {
    msgtype: "m.text",
    body: "x",
    "m.new_content": { msgtype: "m.text", body: "y" },
    "m.relates_to": edit,
  } as const;
  await api.sendMessage("!room", complete);
  assertEquals(last(), complete);
});

Deno.test("sendFile() and sendImage() have a body with and without a file name", async () => {
  const { api, last } = helpers();
  await api.sendFile("!room", url);
  assertEquals(last(), { msgtype: "m.file", body: "file", url });
  await api.sendFile("!room", url, {
    fileName: "cue.ogg",
    fileType: "m.audio",
    info: { size: 7 },
    relatesTo: reply,
  });
  assertEquals(last(), {
    msgtype: "m.audio",
    body: "cue.ogg",
    filename: "cue.ogg",
    url,
    info: { size: 7 },
    "m.relates_to": reply,
  });
  await api.sendImage("!room", url, { info: { w: 1, h: 2 } });
  assertEquals(last(), { msgtype: "m.image", body: "image", url, info: { w: 1, h: 2 } });
});

Deno.test("sendSticker() sends a sticker, whose text is empty by default", async () => {
  const { api, sent } = helpers();
  await api.sendSticker("!room", url, { w: 1 });
  await api.sendSticker("!room", url, { w: 1 }, { text: "Bravo", relatesTo: reply });
  assertEquals(sent.map(({ type, content }): unknown => [type, content]), [
    ["m.sticker", { body: "", url, info: { w: 1 } }],
    ["m.sticker", { body: "Bravo", url, info: { w: 1 }, "m.relates_to": reply }],
  ]);
});

Deno.test("react() annotates the event", async () => {
  const { api, sent } = helpers();
  assertEquals(await api.react("!room", "$1", "👍️"), "$event");
  assertEquals(sent, [{
    roomId: "!room",
    type: "m.reaction",
    content: { "m.relates_to": { rel_type: "m.annotation", event_id: "$1", key: "👍️" } },
    options: {},
  }]);
});

Deno.test("All send helpers hand their request options on, and nothing else", async () => {
  const { api, sent } = helpers();
  const signal = AbortSignal.abort();
  const options = {
    signal,
    timestamp: 12,
    txnId: "t1",
    disableEncryption: true,
    headers: { "x-trace": "1" },
  };
  await api.sendMessage("!room", { msgtype: "m.text", body: "" }, options);
  await api.sendText("!room", "", { ...options, html: "", msgtype: "m.text", relatesTo: reply });
  await api.sendNotice("!room", "", { ...options, html: "", relatesTo: reply });
  await api.sendEmote("!room", "", { ...options, html: "", relatesTo: reply });
  await api.sendFile("!room", url, {
    ...options,
    info: {},
    fileName: "x",
    fileType: "m.file",
    relatesTo: reply,
  });
  await api.sendImage("!room", url, { ...options, info: {}, fileName: "x", relatesTo: reply });
  await api.sendSticker("!room", url, {}, { ...options, text: "", relatesTo: reply });
  await api.react("!room", "$1", "x", options);
  assertEquals(sent.map(({ options }) => options), Array(8).fill(options));
});

Deno.test("Send helpers refuse impossible parameters and send nothing", async () => {
  const { api, sent } = helpers();
  for (
    const bad of ["", "https://example.org/pic", "mxc://example.org", "mxc:///x"] as string[] as ContentURI[]
  ) {
    await assertRejects(() => api.sendFile("!room", bad), ValueError, "mxc");
    await assertRejects(() => api.sendImage("!room", bad), ValueError, "mxc");
    await assertRejects(() => api.sendSticker("!room", bad, {}), ValueError, "mxc");
  }
  await assertRejects(() => api.sendText("room" as RoomID, null, { html: "x" }), ValueError, "roomId");
  await assertRejects(() => api.react("!room", "1" as EventID, "x"), ValueError, "eventId");
  await assertRejects(() => api.react("!room", "$1", ""), ValueError, "key");
  assertEquals(sent, []);
});
