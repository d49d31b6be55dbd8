/**
 * The differences between room versions that clients can see, what a redaction leaves in each, and who may do what
 * in a room.
 *
 * @see {@link https://spec.matrix.org/v1.16/rooms/ | Room versions}
 * @see {@link https://spec.matrix.org/v1.16/rooms/v11/#redactions | Redactions}
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { stringAt, valueAt } from "../json/json.ts";
import type { UserID } from "../../types/ids.ts";
import type { RoomEvent } from "./room_event.ts";

/** The traits of a room version. */
export interface RoomVersion {
  /** Its name: `1` to `12`. */
  readonly id: string;
  /** Event IDs carry the server name (1 and 2). */
  readonly eventIdsWithServer: boolean;
  /** Aliases are state that only their own server may write (1 to 5). */
  readonly aliasEvents: boolean;
  /** Content is canonical JSON, and levels of notifications are guarded (from 6). */
  readonly strictJson: boolean;
  /** Users may knock (from 7). */
  readonly knock: boolean;
  /** Joining may be allowed by membership in other rooms (from 8). */
  readonly restricted: boolean;
  /** Redaction keeps `join_authorised_via_users_server` (from 9). */
  readonly keepsAuthorisingServer: boolean;
  /** Both together, and power levels must be integers (from 10). */
  readonly knockRestricted: boolean;
  /** `redacts` is in the content, the creator is the sender, redaction keeps more (from 11). */
  readonly modernRedaction: boolean;
  /** The room ID is that of its create event, and creators have infinite power (from 12). */
  readonly creatorPower: boolean;
}

/** The version of a room that is created without naming one; the default of Synapse 1.163. */
export const DEFAULT_ROOM_VERSION = "12";

/** All versions by name. */
export const ROOM_VERSIONS: ReadonlyMap<string, RoomVersion> = new Map(
  Array.from({ length: 12 }, (_, i) => i + 1).map((version) => [String(version), {
    id: String(version),
    eventIdsWithServer: version <= 2,
    aliasEvents: version <= 5,
    strictJson: version >= 6,
    knock: version >= 7,
    restricted: version >= 8,
    keepsAuthorisingServer: version >= 9,
    knockRestricted: version >= 10,
    modernRedaction: version >= 11,
    creatorPower: version >= 12,
  }]),
);

/** The content of an event of this type after redaction. */
export function redactedContent(version: RoomVersion, type: string, content: JsonObject): JsonObject {
  if (type === "m.room.create" && version.modernRedaction) return content;
  const kept = pick(content, keptKeys(version, type));
  if (type === "m.room.member" && version.modernRedaction && isJsonObject(content.third_party_invite)) {
    const signed = pick(content.third_party_invite, ["signed"]);
    if (Object.keys(signed).length > 0) kept.third_party_invite = signed;
  }
  return kept;
}

function keptKeys(version: RoomVersion, type: string): readonly string[] {
  switch (type) {
    case "m.room.member":
      return version.keepsAuthorisingServer
        ? ["membership", "join_authorised_via_users_server"]
        : ["membership"];
    case "m.room.create":
      return ["creator"];
    case "m.room.join_rules":
      return version.restricted ? ["join_rule", "allow"] : ["join_rule"];
    case "m.room.power_levels": {
      const kept = [
        "users",
        "users_default",
        "events",
        "events_default",
        "state_default",
        "ban",
        "kick",
        "redact",
      ];
      return version.modernRedaction ? [...kept, "invite"] : kept;
    }
    case "m.room.aliases":
      return version.aliasEvents ? ["aliases"] : [];
    case "m.room.history_visibility":
      return ["history_visibility"];
    case "m.room.redaction":
      return version.modernRedaction ? ["redacts"] : [];
    default:
      return [];
  }
}

/** The ID that a redaction in this room version redacts. */
export function redactedId(
  version: RoomVersion,
  draft: { redacts?: string; content: JsonObject },
): string | undefined {
  return version.modernRedaction ? stringAt(draft.content, "redacts") ?? draft.redacts : draft.redacts;
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]),
  );
}

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

  /** Returns whether the user is a creator whose power no event can take away. */
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
