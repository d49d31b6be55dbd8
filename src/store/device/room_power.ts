/**
 * Who may do what in a room, by its power levels.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#mroompower_levels | m.room.power_levels}
 * @see {@link https://spec.matrix.org/v1.16/rooms/v12/ | Room version 12}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";

/** The state of a room that decides about power. */
export interface RoomPower {
  /** The content of `m.room.power_levels`; absent if the room certainly has none. */
  readonly powerLevels?: JsonObject;
  /** The `m.room.create` event; absent if it is unknown. */
  readonly create?: { readonly sender: string; readonly content: JsonObject };
}

/** What a user may want to do. */
export type PowerAction =
  | "ban"
  | "kick"
  | "invite"
  | "redact"
  | {
    /** Sends an event of this type. */ readonly event: string; /** As state. Default: false. */
    readonly state?: boolean;
  }
  | { /** Notifies everybody of the room in this way, like `room`. */ readonly notify: string };

/**
 * The last room version whose create event names the creator in its content; later, its sender is.
 */
const LAST_NAMED_CREATOR = 10;
/** The last room version in which creators have a level like others; later, they are above all. */
const LAST_LEVELLED_CREATOR = 11;

/** The level of a user: a number, or `Infinity` for a creator of a room of version 12 or later. */
export function powerLevelOf(user: UserID, { powerLevels, create }: RoomPower): number {
  if (create !== undefined && creatorsAreAboveAll(create.content)) {
    const more = create.content.additional_creators;
    if (create.sender === user || (Array.isArray(more) && more.includes(user))) return Infinity;
  }
  if (powerLevels === undefined) return create !== undefined && isCreator(user, create) ? 100 : 0;
  const users = isJsonObject(powerLevels.users) ? powerLevels.users : {};
  const own = Object.hasOwn(users, user) ? users[user] : undefined;
  return level(own, level(powerLevels.users_default, 0));
}

export function requiredLevel(action: PowerAction, { powerLevels }: RoomPower): number {
  const levels = powerLevels ?? {};
  if (action === "invite") return level(levels.invite, 0);
  if (typeof action === "string") return level(levels[action], 50);
  if ("notify" in action) return level(entry(levels.notifications, action.notify), 50);
  const otherwise = action.state ? level(levels.state_default, 50) : level(levels.events_default, 0);
  return level(entry(levels.events, action.event), otherwise);
}

/** Whether a user's level is enough for an action. */
export function hasPower(user: UserID, action: PowerAction, room: RoomPower): boolean {
  return powerLevelOf(user, room) >= requiredLevel(action, room);
}

function creatorsAreAboveAll({ room_version }: JsonObject): boolean {
  if (typeof room_version !== "string") return false;
  return (/^\d+$/.test(room_version) && Number(room_version) > LAST_LEVELLED_CREATOR) ||
    room_version.startsWith("org.matrix.hydra.");
}

function isCreator(user: UserID, { sender, content }: NonNullable<RoomPower["create"]>): boolean {
  const { creator, room_version = "1" } = content;
  const named = typeof creator === "string" && Number(room_version) <= LAST_NAMED_CREATOR;
  return (named ? creator : sender) === user;
}

/** Own members only: a server can name any key, `constructor` too. */
function entry(map: unknown, key: string): unknown {
  return isJsonObject(map) && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Levels were strings at times, in the room versions up to 9. */
function level(value: unknown, otherwise: number): number {
  const number = typeof value === "string" && /^\s*-?\d+\s*$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : otherwise;
}
