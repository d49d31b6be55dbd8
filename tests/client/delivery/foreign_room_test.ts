import { assert, assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

/** A server that changes each event of its answers about history and state. */
function changing(here: ClientStage, change: (event: JsonObject, path: string) => JsonObject): typeof fetch {
  return async (...given) => {
    const request = new Request(...given);
    const { pathname } = new URL(request.url);
    const response = await here.homeserver.fetch(request);
    if (!/\/(messages|state|members|context|event|relations)\b/.test(pathname) || !response.ok) {
      return response;
    }
    const changed = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(changed);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).map(([name, member]) => [name, changed(member)]);
      const object: JsonObject = Object.fromEntries(entries);
      return "room_id" in object && "event_id" in object ? change(object, pathname) : object;
    };
    return Response.json(changed(await response.json()));
  };
}

function withoutRoom({ room_id: _, ...event }: JsonObject): JsonObject {
  return event;
}

async function scene(here: ClientStage, change: (event: JsonObject, path: string) => JsonObject) {
  const alice = here.client("alice");
  here.client("bot");
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  const bot = here.client("bot", { fetch: changing(here, change) });
  await bot.joinRoom(room);
  await bot.syncOnce();
  return { alice, bot, room };
}

Deno.test("Events of a gap that do not say their room are those of the room that was asked about", async () => {
  await using here = clientStage();
  const { alice, bot, room } = await scene(here, withoutRoom);
  const texts = heard(bot);
  const lines = Array.from({ length: 45 }, (_, line) => `${line}`);
  for (const line of lines) await alice.sendText(room, line);
  await bot.syncOnce();
  assertEquals(texts, lines);
});

Deno.test("Every answer about a room does without the room in its events", async () => {
  await using here = clientStage();
  const { alice, bot, room } = await scene(here, withoutRoom);
  const id = await alice.sendText(room, "one");
  await alice.sendMessageEvent(room, "m.room.message", {
    msgtype: "m.text",
    body: "two",
    "m.relates_to": { rel_type: "m.reference", event_id: id },
  });
  const found = [
    await bot.getEvent(room, id),
    ...(await bot.getMessages(room, "b", undefined)).chunk,
    ...(await bot.getState(room)),
    ...await bot.getMembers(room),
    ...(await bot.getEventContext(room, id)).events_before ?? [],
    ...(await bot.getRelations(room, id)).chunk,
  ];
  assert(found.length > 15);
  assertEquals(found.filter(({ room_id }) => room_id !== room), []);
});

Deno.test("An event that names another room is left out, and told of", async () => {
  await using here = clientStage();
  let others = 0;
  const { alice, bot, room } = await scene(
    here,
    (event, path) =>
      path.endsWith("/messages") && others++ === 0 ? { ...event, room_id: "!other:localhost" } : event,
  );
  const texts = heard(bot);
  const lines = Array.from({ length: 30 }, (_, line) => `${line}`);
  for (const line of lines) await alice.sendText(room, line);
  await bot.syncOnce();
  assertEquals(texts.length, 29);
  const told = here.log.lines.filter(([, message]) => message.includes("Left out events of an answer"));
  assertEquals(told.length, 1);
});
