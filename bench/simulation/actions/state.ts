/**
 * State of rooms that nothing in Greenroom goes by, but applications: it changes, and is redacted.
 *
 * @module
 */

import type { EventID, RoomID } from "@greenroom/matrix/types";
import type { World } from "../world/world.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

/** The types of state that is set, and redacted: one that the specification has, and one of its own. */
export const STATE_TYPES: readonly string[] = ["m.room.topic", "org.example.badge"];
/** How many pieces of state there are of a type of its own. */
const KEYS = 3;

/** Sets a piece of state; undefined: the server has refused it. */
async function set({ world, room, action: { what } }: Scene): Promise<EventID | undefined> {
  const type = chosen(STATE_TYPES, what) ?? "m.room.topic";
  const key = type === "m.room.topic" ? "" : `key ${what % KEYS}`;
  const path = `state/${type}/${encodeURIComponent(key)}`;
  return (await ask(world, room.id, path, { topic: `at ${world.timeline.instant()}` })).event_id;
}

async function ask(
  world: World,
  room: RoomID,
  path: string,
  body: Record<string, unknown>,
): Promise<{ event_id?: EventID }> {
  const token = await world.accounts[0]?.token();
  if (token === undefined) return {};
  return await world.ask(token, "PUT", `v3/rooms/${encodeURIComponent(room)}/${path}`, body);
}

async function redact(scene: Scene, event: EventID): Promise<void> {
  const { world, room } = scene;
  const path = `redact/${encodeURIComponent(event)}/redact-${world.timeline.instant()}`;
  await ask(world, room.id, path, { reason: "taken back" });
  world.note(`state ${event} is redacted`);
}

/** The kinds. */
export const state: readonly ActionKind[] = [
  {
    name: "state of a room changes",
    weight: 3,
    async perform(scene) {
      await set(scene);
    },
  },
  {
    name: "state of a room is redacted",
    weight: 4,
    async perform(scene) {
      const { world, room, action: { what } } = scene;
      const events = world.homeserver.room(room.id).events.filter(({ type }) => STATE_TYPES.includes(type));
      const event = chosen(events, what >> 1)?.event_id ?? await set(scene);
      if (event === undefined) return;
      // It comes with what it redacts, or later; some are told later, others are started in between.
      await world.timeline.pass(what % 3 * 5_000);
      await redact(scene, event);
    },
  },
];
