import { assertEquals } from "@std/assert";
import type { Context } from "@greenroom/matrix/bot";
import type { JsonObject } from "@greenroom/matrix/types";
import { trying } from "../support.ts";

/** What a function reads of events that a user sends. */
async function read(of: (c: Context) => unknown, ...events: [type: string, content: JsonObject][]) {
  const seen: unknown[] = [];
  await using tester = trying((bot) => {
    bot.use(async (c, next) => {
      seen.push(of(c));
      await next();
    });
    bot.command("roll [n]", () => {});
  });
  const room = await tester.room("alice");
  await tester.settle();
  seen.length = 0;
  for (const [type, content] of events) await room.send(type, content);
  await tester.until(() => seen.length >= events.length, "The bot was to see all");
  return seen;
}

const text = (body: string, more: JsonObject = {}): [string, JsonObject] => [
  "m.room.message",
  { msgtype: "m.text", body, ...more },
];

Deno.test("c.reaction is the key of a reaction and what it is to", async () => {
  const seen: unknown[] = [];
  await using tester = trying((bot) => {
    bot.on(["reaction", "text"], (c) => void seen.push(c.reaction));
  });
  const room = await tester.room("alice");
  const eventId = await room.say("no reaction");
  await room.react(eventId, "🎉");
  await tester.until(() => seen.length === 2, "The bot was to see both");
  assertEquals(seen, [undefined, { key: "🎉", eventId }]);
});

Deno.test("c.media is what a message says of its image or other file", async () => {
  const image = {
    ...{ msgtype: "m.image", body: "a cat", filename: "cat.png", url: "mxc://localhost/a" },
    info: { mimetype: "image/png", size: 7, w: 4, h: 3 },
  };
  const file = {
    ...{ url: "mxc://localhost/c", iv: "AAAAAAAAAAAAAAAAAAAAAA", hashes: { sha256: "AAAA" }, v: "v2" },
    key: { kty: "oct", key_ops: ["encrypt", "decrypt"], alg: "A256CTR", k: "AAAA", ext: true },
  };
  const song = { msgtype: "m.audio", body: "c.ogg", filename: "c.ogg", file, info: { duration: 90_000 } };
  const seen = await read(
    (c) => c.media && { ...c.media, download: typeof c.media.download },
    ["m.room.message", image],
    ["m.room.message", { msgtype: "m.file", body: "b.txt", url: "mxc://localhost/b" }],
    ["m.room.message", song],
    text("none"),
  );
  const unsaid = {
    ...{ caption: undefined, mimeType: undefined, size: undefined },
    ...{ width: undefined, height: undefined, duration: undefined, isEncrypted: false, download: "function" },
  };
  assertEquals(seen, [
    {
      ...unsaid,
      ...{ filename: "cat.png", caption: "a cat", mimeType: "image/png", size: 7, width: 4, height: 3 },
    },
    { ...unsaid, filename: "b.txt" },
    { ...unsaid, filename: "c.ogg", duration: 90_000, isEncrypted: true },
    undefined,
  ]);
});

Deno.test("c.mentions are the users whom a message mentions, and c.command the command that it is", async () => {
  const seen = await read(
    (c) => [c.mentions, c.command],
    text("!roll 6", { "m.mentions": { user_ids: ["@bob:localhost", "bob"] } }),
    text("hello"),
  );
  assertEquals(seen, [[["@bob:localhost"], "roll"], [[], undefined]]);
});
