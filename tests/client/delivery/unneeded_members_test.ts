import { assertEquals } from "@std/assert";
import { clientStage } from "../support/stage.ts";

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
