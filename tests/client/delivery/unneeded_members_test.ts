import { assertEquals } from "@std/assert";
import { clientStage, heard } from "../support/stage.ts";

Deno.test("What no code needs can be left out: tombstones, stickers and a server's notices reach handlers", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  here.client("bot");
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  const bot = here.client("bot");
  const seen: unknown[] = [];
  for (const type of ["m.room.tombstone", "m.sticker", "m.room.message"] as const) {
    bot.on(type, (event) => void seen.push(event.type));
  }
  bot.on("MALFORMED", ({ reason }) => void seen.push(reason));
  await bot.joinRoom(room);
  await bot.syncOnce();
  await alice.sendMessageEvent(room, "m.sticker", { body: "cat", url: "mxc://localhost/cat" });
  await alice.sendMessageEvent(room, "m.room.message", { msgtype: "m.server_notice", body: "Be kind" });
  await alice.sendStateEvent(room, "m.room.tombstone", { replacement_room: "!new:localhost" });
  await bot.syncOnce();
  assertEquals(seen, ["m.sticker", "m.room.message", "m.room.tombstone"]);
});

Deno.test("A gap is read from a server that does not say where its pages start", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  here.client("bot");
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  const bot = here.client("bot", {
    fetch: async (...given) => {
      const request = new Request(...given);
      const response = await here.homeserver.fetch(request);
      if (!request.url.includes("/messages") || !response.ok) return response;
      const { start: _, ...page } = await response.json();
      return Response.json(page);
    },
  });
  await bot.joinRoom(room);
  await bot.syncOnce();
  const texts = heard(bot);
  const lines = Array.from({ length: 45 }, (_, line) => `${line}`);
  for (const line of lines) await alice.sendText(room, line);
  await bot.syncOnce();
  assertEquals(texts, lines);
});
