/**
 * Events as the in-process homeserver keeps them: which points at which, and how to walk through them;
 * and what clients can see of the version of a room: what a redaction leaves, and who may do what.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#forwards-compatibility-with-older-relations | Relationships}
 * @see {@link https://spec.matrix.org/v1.19/rooms/ | Room versions}
 * @see {@link https://spec.matrix.org/v1.19/rooms/v11/#redactions | Redactions}
 *
 * Over 300 lines because what an event is depends on the version of its room.
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { stringAt, valueAt } from "../json/json.ts";

/** What someone wants to send, before it has passed the rules of the room. */
export interface EventDraft {
  /** Its ID, if that had to be known before. */
  readonly id?: EventID;
  /** The event type. */
  readonly type: string;
  /** Who sends it. */
  readonly sender: UserID;
  /** The state key; `undefined` for what is not state. */
  readonly stateKey?: string;
  readonly content: JsonObject;
  /** The event that a redaction redacts. */
  readonly redacts?: EventID;
  /** Overrides the clock. */
  readonly timestamp?: number;
  /** The device, only ever compared, and the transaction ID that it was sent with. */
  readonly transaction?: { readonly device: object; readonly id: string };
}

export interface RoomEvent extends EventDraft {
  readonly id: EventID;
  readonly roomId: RoomID;
  /** The content; what a redaction leaves of it once there is one. */
  content: JsonObject;
  /** The content before the redaction: what the room is still described by. */
  contentBefore?: JsonObject;
  /** When it was sent, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Where it lies in the stream. */
  readonly position: number;
  /** Its index among the events of the room. */
  readonly index: number;
  /** The state event that it replaced. */
  readonly replaces?: RoomEvent;
  /** The redaction that removed its content. */
  redaction?: RoomEvent;
}

/** The membership that a member event gives. */
export function membershipOf(event: RoomEvent | undefined): string {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership : "leave";
}

/** The relation that an event declares. */
export interface Relation {
  /** The kind, for example `m.thread`. */
  readonly type: string;
  /** The event that it points at. */
  readonly parent: string;
  /** The key of an annotation. */
  readonly key: string | undefined;
}

/** The relation that `event` declares, if it is well formed. */
export function relationOf(event: { readonly content: RoomEvent["content"] }): Relation | undefined {
  const type = stringAt(event.content, "m.relates_to", "rel_type");
  const parent = stringAt(event.content, "m.relates_to", "event_id");
  if (type === undefined || parent === undefined) return undefined;
  return { type, parent, key: stringAt(event.content, "m.relates_to", "key") };
}

/** The children of every event of a room. A redacted event no longer relates to anything. */
export class Relations {
  readonly #children = new Map<string, RoomEvent[]>();
  readonly #relation = new Map<EventID, Relation>();

  /** Files an event under what it points at. */
  add(event: RoomEvent): void {
    const relation = relationOf(event);
    if (relation === undefined || event.stateKey !== undefined) return;
    this.#relation.set(event.id, relation);
    const children = this.#children.get(relation.parent);
    if (children === undefined) this.#children.set(relation.parent, [event]);
    else children.push(event);
  }

  /** The relation of an event, as long as it has one. */
  of(event: RoomEvent): Relation | undefined {
    return event.redaction === undefined ? this.#relation.get(event.id) : undefined;
  }

  /** The events that point at `parent`, oldest first. */
  childrenOf(parent: string, type?: string): RoomEvent[] {
    const children = this.#children.get(parent) ?? [];
    return children.filter((child) => {
      const relation = this.of(child);
      return relation !== undefined && (type === undefined || relation.type === type);
    });
  }

  /** Every event that something points at. */
  parents(): Iterable<string> {
    return this.#children.keys();
  }
}

/** The index of the first item that lies after `position`. */
export function firstAfter(items: readonly { readonly position: number }[], position: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.position ?? Infinity) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Which events to collect. */
interface Walk {
  /** Whether to walk from old to new. */
  readonly forwards: boolean;
  /** The stream position to start at; the event there belongs to what lies behind. */
  readonly from: number;
  /** The stream position to stop at. */
  readonly to: number;
  /** How many events to collect at most. */
  readonly limit: number;
  /** Which events count. */
  readonly allows: (event: RoomEvent) => boolean;
}

/** Collects events of a room in the order of the walk. */
export function paginate(
  all: readonly RoomEvent[],
  { forwards, from, to, limit, allows }: Walk,
): RoomEvent[] {
  const events: RoomEvent[] = [];
  const step = forwards ? 1 : -1;
  for (let i = firstAfter(all, from) - (forwards ? 0 : 1); events.length < limit; i += step) {
    const event = all[i];
    if (event === undefined || (forwards ? event.position > to : event.position <= to)) break;
    if (allows(event)) events.push(event);
  }
  return events;
}

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
