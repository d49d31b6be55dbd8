import { assert, assertEquals, assertRejects } from "@std/assert";
import { recordTrace } from "@greenroom/matrix/trace";
import { Redaction } from "../../src/trace/redaction.ts";
import { twoInARoom } from "../client/support/encrypted_room.ts";
import { clientStage } from "../client/support/stage.ts";

const HASH = "a".repeat(43);

Deno.test("A redacted content has the shape of the event, and the same name for the same thing", () => {
  const redaction = new Redaction(["!ping", /\d+m/]);
  redaction.call("@bot:example.org", "@bot:trace");
  const content = {
    msgtype: "m.text",
    body: "Hi @alice:example.org, see !ping 10m hunter2m mxc://example.org/abcDEF.",
    formatted_body:
      `<a href="https://matrix.to/#/@alice:example.org">Álice</a> <b title="x">漢</b> &amp; <hunter2>`,
    "m.mentions": { user_ids: ["@alice:example.org", "@bot:example.org"] },
    users: { "@alice:example.org": 50, "Bob Smith": 3 },
    pin: 1234,
    "m.relates_to": { rel_type: "m.annotation", event_id: `$${HASH}`, key: "👍 ok" },
    file: { url: "mxc://example.org/abcDEF", key: { k: "abcDEF1" } },
    info: { w: 3, mimetype: "image/png", size: 3 },
    type: "hunter2",
    nothing: null,
    yes: true,
  };
  assertEquals(redaction.content(content), {
    msgtype: "m.text",
    body: "Xx @u1:trace, xxx !ping 10m xxxxxx0x mxc://trace/m1.",
    formatted_body: '<a href="https://matrix.to/#/%40u1%3Atrace">Xxxxx</a> <b>x</b> &amp; <xxxxxx0>',
    "m.mentions": { user_ids: ["@u1:trace", "@bot:trace"] },
    users: { "@u1:trace": 50, "Xxx Xxxxx": 3 },
    pin: 0,
    "m.relates_to": { rel_type: "m.annotation", event_id: "$e1", key: "👍 xx" },
    file: { url: "mxc://trace/m1", key: { k: "xxxXXX0" } },
    info: { w: 3, mimetype: "image/png", size: 3 },
    type: "xxxxxx0",
    nothing: null,
    yes: true,
  });
});

Deno.test("Of a text stay ASCII punctuation, white space and emoji, and nothing in which words can be written", () => {
  const texts = {
    "ⓈⒺⒸⓇⒺⓉ": "xxxxxx",
    "🅰🅱🅾": "xxx",
    "\u{1F1F8}\u{1F1EA}": "xx", // regional indicators
    "⠎⠑⠉": "xxx", // Braille
    "\u{1F3F4}\u{E0073}\u{E0065}": "\u{1F3F4}xx", // tag characters
    "हिन्दी": "xxxxxx",
    "ที่นี่": "xxxxxx",
    "سِرّ": "xxxx",
    "e\u0301": "xx",
    "a\u200Db\uFE0F": "xxxx",
    "«“No”», 42٤½ E": "xxXxxx, 0000 X",
    "\u0007\u{D800}": "xx",
    "a+b = <c> {d}\n\t~^`|$!": "x+x = <x> {x}\n\t~^`|$!",
    "👩🏽‍💻 👍🏿 ❤️ 🙂!": "👩🏽‍💻 👍🏿 ❤️ 🙂!",
  };
  for (const [text, shape] of Object.entries(texts)) {
    const left = new Redaction([]).text(text);
    assertEquals(left, shape, text);
    assertEquals(new Redaction([]).text(left), left, "a replay redacts what is redacted");
  }
});

Deno.test("A secret that is planted anywhere in a content is not in what is left of it", () => {
  const secret = "Hunter2Secret";
  const texts = [
    secret,
    `!${secret}`,
    `a ${secret}`,
    `<b>${secret}</b>`,
    `<${secret}>`,
    `<b ${secret}="${secret}">`,
    `<a href="https://matrix.to/#/@${secret}:x.org?${secret}">`,
    `<a href="https://${secret}.org/">`,
    `https://matrix.to/#/%40${secret}%3Ax.org/%24${secret}`,
    `@${secret}:x.org`,
    `@x:${secret}.org`,
    `!${secret}:x.org`,
    `$${secret}:x.org`,
    `#${secret}:x.org`,
    `mxc://x.org/${secret}`,
    `mxc://${secret}`,
    `&${secret};`,
  ];
  const places = (text: string): Record<string, unknown>[] => [
    { body: text },
    { formatted_body: text },
    { type: text },
    { membership: text },
    { [text]: 1 },
    { a: [{ b: [text] }] },
    { "m.new_content": { body: text } },
    { "m.relates_to": { key: text } },
    { users: { [text]: text } },
  ];
  for (const text of texts) {
    for (const content of places(text)) {
      if (JSON.stringify(content).includes(`{"${secret}"`)) continue; // names of members stay
      const left = JSON.stringify(new Redaction([]).content(content));
      assert(!left.toLowerCase().includes("hunter"), `${JSON.stringify(content)} became ${left}`);
    }
  }
  const numbers = new Redaction([]).content({ pin: 4711, users: { "@a:x.org": 50 }, deep: { code: [4711] } });
  assertEquals(numbers, { pin: 0, users: { "@u1:trace": 50 }, deep: { code: [0] } });
});

Deno.test("Content that is too deep ends, and the kinds of IDs are counted apart", () => {
  let deep: unknown = "end";
  for (let level = 0; level < 10_000; level++) deep = { deep };
  assert(JSON.stringify(new Redaction([]).content({ deep })).length < 500);
  const redaction = new Redaction([]);
  const ids = ["@a:x.org", "!a:x.org", "$a:x.org", "#a:x.org", "mxc://x.org/a", "@b:x.org", "@a:x.org"];
  assertEquals(ids.map((id) => redaction.id(id)), [
    ...["@u1:trace", "!r1:trace", "$e1", "#a1:trace", "mxc://trace/m1", "@u2:trace", "@u1:trace"],
  ]);
});

Deno.test("What came encrypted is recorded as it was decrypted, redacted, and a recording that ended takes nothing", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  let trace = "";
  const write = (line: string) => void (trace += line);
  const recording = recordTrace(bob, { write, keep: ["!ping"], clock: stage.clock });
  await alice.sendText(roomId, "!ping hunter2");
  await stage.until(() => trace.includes("!ping"));
  await recording.stop();
  assert(
    trace.includes('"body":"!ping xxxxxx0"') && !trace.includes("hunter2") && !trace.includes("localhost"),
    trace,
  );
  const before = trace;
  await alice.sendText(roomId, "!ping");
  await stage.settle();
  assertEquals(trace, before);
});

Deno.test("A recording that can't be written ends, and the bot goes on", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot");
  const room = await bot.createRoom();
  let lines = 0;
  const recording = recordTrace(bot, {
    write() {
      if (++lines > 2) throw new TypeError("the disk is full");
    },
  });
  await bot.syncOnce();
  const heard: string[] = [];
  bot.on("m.room.message", ({ content }) => void heard.push(content.body));
  await bot.sendText(room, "one");
  await bot.syncOnce();
  await bot.sendText(room, "two");
  await bot.syncOnce();
  assertEquals([heard, lines], [["one", "two"], 3]);
  await assertRejects(() => recording.stop(), TypeError, "the disk is full");
});
