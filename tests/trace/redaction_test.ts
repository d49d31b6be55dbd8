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
  assertEquals(redaction.content(content, "m.room.message"), {
    msgtype: "m.text",
    body: "Xx @u1:trace, xxx !ping 10m xxxxxx0x mxc://trace/m1.",
    formatted_body: '<a href="https://matrix.to/#/%40u1%3Atrace">Xxxxx</a> <b>x</b> &amp; <xxxxxx0>',
    "m.mentions": { user_ids: ["@u1:trace", "@bot:trace"] },
    users: { "@u1:trace": 0, "Xxx Xxxxx": 0 },
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
    `m.${secret}`,
    `org.x.${secret}`,
    `alice.smith_lives_at/${secret}-Street`,
    `image/${secret}`,
    `token/sk_live_${secret}5`,
    `org.matrix.msc3381.${secret}`,
    `hunter:5`,
    `hunter.org:8448`,
  ];
  const places = (text: string): Record<string, unknown>[] => [
    { body: text },
    { formatted_body: text },
    { type: text },
    { membership: text },
    { method: text },
    { mimetype: text },
    { msgtype: text },
    { algorithm: text },
    { room_version: text },
    { [text]: 1 },
    { a: [{ b: [text] }] },
    { "m.new_content": { body: text } },
    { "m.relates_to": { key: text } },
    { users: { [text]: text } },
    { signatures: { [text]: { "ed25519:1": text } } },
  ];
  for (const text of texts) {
    for (const content of places(text)) {
      const { users = content } = content;
      if (/^[\w.-]+$/.test(text) && Object.hasOwn(users as object, text)) continue; // names of members stay
      for (const type of ["m.room.message", "m.room.power_levels"]) {
        const left = JSON.stringify(new Redaction([]).content(content, type));
        assert(!left.toLowerCase().includes("hunter"), `${JSON.stringify(content)} became ${left}`);
      }
    }
  }
});

Deno.test("Members whose names have one shape stay apart, up to a limit, and again when they are redacted twice", () => {
  const content = { "é": 1, "è": "a", "Bob S": 1, "Ann S": 2, "@a:x": 1, "@b:x": 1 };
  const left = new Redaction([]).content(content, "org.x.y");
  const names = ["x", "x~", "Xxx X", "Xxx X~", "@u1:trace", "@u2:trace"];
  assertEquals(Object.keys(left), names);
  assertEquals(Object.keys(new Redaction([]).content(left, "org.x.y")), names);
  const many = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, n) => [String.fromCharCode(0x4e00 + n), n]),
  );
  assertEquals(Object.keys(new Redaction([]).content(many, "org.x.y")).length, 101);
});

Deno.test("Only values that are known stay where a word says how an event is read", () => {
  const known = [
    { membership: "join", join_rule: "knock_restricted", room_version: "11", preset: "public_chat" },
    { msgtype: "m.key.verification.request", method: "m.sas.v1", rel_type: "m.thread", type: "m.id.user" },
    { algorithm: "m.megolm.v1.aes-sha2", format: "org.matrix.custom.html", mimetype: "image/svg+xml" },
    { kind: "org.matrix.msc3381.poll.undisclosed", type: "application/octet-stream" },
  ];
  for (const content of known) assertEquals(new Redaction([]).content(content, "org.x.y"), content);
  assertEquals(
    new Redaction([]).content({
      type: "alice.smith_lives_at/Elm-Street-5",
      method: "token/sk_live_AbC123",
      mimetype: "image/alice",
      kind: "m.alice-5",
      msgtype: "org.alice.smith",
      rel_type: "m.Alice",
    }, "org.x.y"),
    {
      type: "xxxxx.xxxxx_xxxxx_xx/Xxx-Xxxxxx-0",
      method: "xxxxx/xx_xxxx_XxX000",
      mimetype: "xxxxx/xxxxx",
      kind: "x.xxxxx-0",
      msgtype: "xxx.xxxxx.xxxxx",
      rel_type: "x.Xxxxx",
    },
  );
});

Deno.test("Levels stay in the event that sets them, sizes in each, and no other number", () => {
  const content = {
    ban: 50,
    pin: 4711,
    users: { "@a:x.org": 50, "alice.smith": 49 },
    events: { "m.room.name": 50 },
    info: { w: 3, duration: 4 },
    deep: { code: [4711] },
  };
  const rest = { pin: 0, info: { w: 3, duration: 4 }, deep: { code: [0] } };
  assertEquals(new Redaction([]).content(content, "m.room.power_levels"), {
    ...{ ...rest, ban: 50, events: { "m.room.name": 50 }, users: { "@u1:trace": 50, "alice.smith": 49 } },
  });
  assertEquals(new Redaction([]).content(content, "m.room.message"), {
    ...{ ...rest, ban: 0, events: { "m.room.name": 0 }, users: { "@u1:trace": 0, "alice.smith": 0 } },
  });
});

Deno.test("A name of a member stays only if it is made of letters, and is no server's", () => {
  const content = {
    votes: { "4915112345678": true, "x.org:8448": true, "Élm": true },
    signatures: { "alice.example.org": { "ed25519:ABC": "secret" }, "@a:x.org": {} },
    hashes: { sha256: "abc" },
    "org.matrix.msc3381.poll.start": { max_selections: 1, "m.text-x": true },
    "org.matrix.msc3381.Elm5": {},
  };
  assertEquals(new Redaction([]).content(content, "m.room.message"), {
    votes: { "0000000000000": true, "x.xxx:0000": true, "Xxx": true },
    signatures: { "xxxxx.xxxxxxx.xxx": { "xx00000:XXX": "xxxxxx" }, "@u1:trace": {} },
    hashes: { sha256: "xxx" },
    "org.matrix.msc3381.poll.start": { max_selections: 1, "m.text-x": true },
    "org.matrix.msc0000.Elm0": {},
  });
});

Deno.test("Content that is too deep ends, and the kinds of IDs are counted apart", () => {
  let deep: unknown = "end";
  for (let level = 0; level < 10_000; level++) deep = { deep };
  assert(JSON.stringify(new Redaction([]).content({ deep }, "m.room.message")).length < 500);
  const redaction = new Redaction([]);
  const ids = ["@a:x.org", "!a:x.org", "$a:x.org", "#a:x.org", "mxc://x.org/a", "@b:x.org", "@a:x.org"];
  assertEquals(ids.map((id) => redaction.id(id)), [
    ...["@u1:trace", "!r1:trace", "$e1", "#a1:trace", "mxc://trace/m1", "@u2:trace", "@u1:trace"],
  ]);
  const others = ["$b:x.org", "foo", "bar", ""].map((id) => redaction.id(id));
  assertEquals(others, ["$e2", "$e3", "$e4", "$e5"]);
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

Deno.test("A recording that can't be written says so once, however many events come at once", async () => {
  for (const limit of [0, 1, 3]) {
    await using stage = clientStage();
    const bot = stage.client("bot");
    await bot.createRoom();
    let lines = 0;
    const recording = recordTrace(bot, {
      write() {
        if (lines++ >= limit) throw new TypeError("the disk is full");
      },
    });
    await stage.settle(); // an unhandled rejection would end the test
    await bot.syncOnce();
    assertEquals(lines, limit + 1);
    const errors = stage.log.lines.filter(([level]) => level === "error");
    assertEquals(errors.map(([, message]) => message), ["An event handler failed"]);
    await assertRejects(() => recording.stop(), TypeError, "the disk is full");
  }
});
