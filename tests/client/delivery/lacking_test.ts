import { assertEquals } from "@std/assert";
import { clientStage } from "../support/stage.ts";

Deno.test("Events without a member that no code needs reach their handlers", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const bot = here.client("bot", {
    async fetch(input, init) { // homeservers take such events from others, and can't look into encrypted ones
      const response = await here.homeserver.fetch(input, init);
      return Response.json(
        JSON.parse(await response.text(), (name, value) => name === "body" ? undefined : value),
        response,
      );
    },
  });
  const room = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(room);
  const heard: unknown[] = [];
  const malformed: unknown[] = [];
  bot.on("m.room.message", ({ content: { msgtype, body } }) => void heard.push([msgtype, body]));
  bot.on("m.room.tombstone", ({ content }) => void heard.push(content));
  bot.on("MALFORMED", (event) => void malformed.push(event));
  await bot.syncOnce();
  await alice.sendMessageEvent(room, "m.room.message", { msgtype: "m.image", url: "mxc://a/b", body: "x" });
  const dice = { msgtype: "com.example.dice" as never, body: "x", eyes: 6 };
  await alice.sendMessageEvent(room, "m.room.message", dice);
  await alice.sendStateEvent(room, "m.room.tombstone", { replacement_room: "!next:localhost", body: "x" });
  await bot.syncOnce();
  assertEquals(heard, [["m.image", ""], ["com.example.dice", ""], { replacement_room: "!next:localhost" }]);
  assertEquals(malformed, []);
});
