/**
 * Who may do what in a room.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#mroompower_levels | m.room.power_levels}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { valueAt } from "../json/json.ts";
import type { RoomEvent } from "./room_event.ts";
import type { RoomVersion } from "./room_version.ts";

/** The levels that are named at the top of the event, with what counts if they are absent. */
export const NAMED_LEVELS: Readonly<Record<string, number>> = {
  users_default: 0,
  events_default: 0,
  state_default: 50,
  ban: 50,
  kick: 50,
  redact: 50,
  invite: 0,
};

/** The power levels in force at one moment. */
export class PowerLevels {
  readonly #content: JsonObject | undefined;
  readonly #creators: ReadonlySet<string>;
  readonly #creatorPower: boolean;

  /** Reads the state of a room; `create` is `undefined` only while the room is made. */
  constructor(version: RoomVersion, create: RoomEvent | undefined, levels: RoomEvent | undefined) {
    this.#content = levels?.content;
    this.#creators = creatorsOf(version, create);
    this.#creatorPower = version.creatorPower;
  }

  /** The level of a user. Creators of rooms from version 12 on stand above every number. */
  of(user: UserID): number {
    if (this.#creators.has(user)) {
      if (this.#creatorPower) return Infinity;
      if (this.#content === undefined) return 100;
    }
    return asLevel(valueAt(this.#content, ["users", user])) ?? this.named("users_default");
  }

  /** A named level, for example `ban`. */
  named(name: string): number {
    return asLevel(this.#content?.[name]) ?? NAMED_LEVELS[name] ?? 0;
  }

  /** The level that sending an event takes. */
  toSend(type: string, isState: boolean): number {
    return asLevel(valueAt(this.#content, ["events", type])) ??
      this.named(isState ? "state_default" : "events_default");
  }

  /** The level that setting off a notification of everyone takes. */
  toNotify(key: string): number {
    return asLevel(valueAt(this.#content, ["notifications", key])) ?? 50;
  }

  /** Whether the user is a creator whose power no event can take away. */
  isCreator(user: UserID): boolean {
    return this.#creatorPower && this.#creators.has(user);
  }
}

/** The number that a power level stands for: rooms before version 10 may write it as a string. */
function asLevel(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value)) return Number(value);
  return undefined;
}

/**
 * Every level of a power level event by a path such as `events.m.room.name`, for comparing two of
 * them.
 */
export function flattenLevels(content: JsonObject): Map<string, number> {
  const levels = new Map<string, number>();
  for (const name of Object.keys(NAMED_LEVELS)) {
    const level = asLevel(content[name]);
    if (level !== undefined) levels.set(name, level);
  }
  for (const group of ["users", "events", "notifications"]) {
    const entries = content[group];
    if (!isJsonObject(entries)) continue;
    for (const [key, value] of Object.entries(entries)) {
      const level = asLevel(value);
      if (level !== undefined) levels.set(`${group}.${key}`, level);
    }
  }
  return levels;
}

function creatorsOf(version: RoomVersion, create: RoomEvent | undefined): ReadonlySet<string> {
  if (create === undefined) return new Set();
  const additional = version.creatorPower ? create.content.additional_creators : undefined;
  const others: unknown[] = Array.isArray(additional) ? additional : [];
  return new Set([create.sender, ...others.filter((id) => typeof id === "string")]);
}
