/**
 * A server answers with so many events or rooms that code breaks which passes a list on as arguments
 * of a function (`list.push(...others)`): a stack takes some 120,000. The response failed again and
 * again, and the bot heard nothing more.
 *
 * The class of mistake: a list whose length others choose is spread into a call. The linter refuses it.
 */

import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { type SyncBody, victim } from "../victim.ts";

/** More than a call takes as arguments. */
const MANY = 130_000;

const EVENT = { sender: "@alice:localhost", origin_server_ts: 1, content: {} };

function many<Item>(make: (number: number) => Item): Item[] {
  return Array.from({ length: MANY }, (_, number) => make(number));
}

/** A response, made worse for one room. */
type Worse = (body: SyncBody, roomId: string) => void;

/** Many events of a type in front of a timeline. */
function timelineOf(type: string): Worse {
  return (body, roomId) => {
    const { timeline } = body.rooms.join[roomId];
    timeline.events = [...many((number) => ({ ...EVENT, type, event_id: `$${number}` })), ...timeline.events];
  };
}

const RESPONSES: Readonly<Record<string, Worse>> = {
  "steps of verifications": timelineOf("m.key.verification.accept"),
  "rooms": ({ rooms }) => {
    const room = { timeline: { events: [{ ...EVENT, type: "own", event_id: "$1" }] } };
    Object.assign(rooms.join, Object.fromEntries(many((number) => [`!${number}:localhost`, room])));
  },
};

for (const [name, worse] of Object.entries(RESPONSES)) {
  Deno.test(`T159: a bot goes on after ${MANY} ${name} in one response`, async () => {
    await using bot = await victim(new MemoryStore());
    await bot.live("first");
    await bot.alice.sendText(bot.roomId, "shown with them");
    assertEquals((await bot.live("shown", (body) => worse(body, bot.roomId))).slice(-2), [
      "shown with them",
      "shown",
    ]);
    assertEquals(bot.log.lines.filter(([, message]) => message === "A sync failed"), []);
  });
}

Deno.test(`T159: a bot goes on after a page of ${MANY} events that were missing`, async () => {
  await using bot = await victim(new MemoryStore());
  await bot.live("first");
  await bot.alice.sendText(bot.roomId, "shown with them");
  const page = {
    start: "s",
    end: "s",
    chunk: many((number) => ({ ...EVENT, type: "own", event_id: `$${number}` })),
  };
  bot.homeserver.faults.add({ kind: "status", status: 200, body: page, match: { path: "/messages" } });
  const heard = await bot.live("shown", (body) => {
    body.rooms.join[bot.roomId].timeline.limited = true;
    body.rooms.join[bot.roomId].timeline.prev_batch = "s";
  });
  assertEquals(heard.slice(-2), ["shown with them", "shown"]);
  assertEquals(bot.log.lines.filter(([, message]) => message === "A sync failed"), []);
});
