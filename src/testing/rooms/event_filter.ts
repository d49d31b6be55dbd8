/**
 * Filters of events.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#filtering | Filtering}
 * @module
 */

import type { EventID, RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import { badRequest, isRoomId, isTruthy, refused } from "../json/json.ts";
import type { Room } from "./room.ts";
import type { RoomEvent } from "./room_event.ts";

/** What a filter looks at. */
interface Filterable {
  readonly type: string;
  readonly sender?: string;
  readonly content?: JsonObject;
  readonly roomId?: RoomID;
  readonly id?: EventID;
}

const FLAGS = [
  "contains_url",
  "lazy_load_members",
  "include_redundant_members",
  "unread_thread_notifications",
];

/** One event filter, or room event filter. */
export class EventFilter {
  /** The largest number of events. */
  readonly limit: number | undefined;
  /** Whether members are loaded lazily. */
  readonly lazyLoadMembers: boolean;
  /** Whether members are sent again that the client has already. */
  readonly includeRedundantMembers: boolean;
  readonly #json: JsonObject;
  readonly #rooms: EventFilter | undefined;

  /**
   * Reads a filter; an absent one lets everything through.
   *
   * @param rooms What an event must pass as well.
   */
  constructor(json: unknown, rooms?: EventFilter) {
    this.#rooms = rooms;
    if (json !== undefined && json !== null && !isJsonObject(json)) {
      throw refused("A filter must be an object");
    }
    this.#json = json ?? {};
    for (const key of ["types", "not_types", "senders", "not_senders", "rooms", "not_rooms"]) {
      strings(this.#json, key);
    }
    const { limit } = this.#json;
    this.limit = typeof limit === "number" ? limit : undefined;
    this.lazyLoadMembers = this.#json.lazy_load_members === true;
    this.includeRedundantMembers = this.#json.include_redundant_members === true;
  }

  /** Refuses what only filters of syncs are refused for: names that are no IDs, and wrong types. */
  requireValid(): this {
    const { limit } = this.#json;
    if (limit !== undefined && !Number.isInteger(limit)) {
      throw refused("'limit' must be an integer");
    }
    for (const key of FLAGS) {
      if (typeof (this.#json[key] ?? false) !== "boolean") {
        throw refused(`'${key}' must be a boolean`);
      }
    }
    const named = (key: string) => [
      ...strings(this.#json, key) ?? [],
      ...strings(this.#json, `not_${key}`) ?? [],
    ];
    if (!named("senders").every((sender) => typeof sender === "string" && /^@[^:]*:/.test(sender))) {
      throw refused("'senders' must be user IDs");
    }
    if (!named("rooms").every(isRoomId)) throw refused("'rooms' must be room IDs");
    return this;
  }

  /** Returns whether an event passes. */
  allows(event: Filterable): boolean {
    const { contains_url } = this.#json;
    if (this.#rooms !== undefined && !this.#rooms.allows(event)) return false;
    if (!this.#passes("types", event.type) || !this.#passes("senders", event.sender ?? "")) return false;
    if (!this.#passes("rooms", roomOf(event))) return false;
    return contains_url === undefined || contains_url === (typeof event.content?.url === "string");
  }

  /** Returns whether a room passes. */
  allowsRoom(room: RoomID): boolean {
    return this.#passes("rooms", room);
  }

  /** Returns whether what relates to an event fits, where the filter asks for that. */
  allowsRelations(room: Room, event: RoomEvent): boolean {
    const senders = strings(this.#json, "related_by_senders");
    const types = strings(this.#json, "related_by_rel_types");
    if ((senders ?? []).length === 0 && (types ?? []).length === 0) return true;
    return room.relations.childrenOf(event.id).some((child) =>
      (!senders?.length || senders.includes(child.sender)) &&
      (!types?.length || types.includes(room.relations.of(child)?.type ?? ""))
    );
  }

  /** Whether nothing can pass. */
  get blocksAll(): boolean {
    return strings(this.#json, "types")?.length === 0 || strings(this.#json, "senders")?.length === 0 ||
      strings(this.#json, "not_types")?.includes("*") === true;
  }

  #passes(key: string, value: string): boolean {
    const allowed = strings(this.#json, key);
    const denied = strings(this.#json, `not_${key}`);
    if (denied?.some((pattern) => matches(pattern, value)) === true) return false;
    return allowed === undefined || allowed.some((pattern) => matches(pattern, value));
  }
}

/** A whole filter as `POST /user/{userId}/filter` takes it. */
export class SyncFilter {
  /** Global account data. */
  readonly accountData: EventFilter;
  readonly presence: EventFilter;
  /** Which rooms at all. */
  readonly rooms: EventFilter;
  readonly roomAccountData: EventFilter;
  /** Typing and receipts. */
  readonly ephemeral: EventFilter;
  readonly state: EventFilter;
  /** Timelines. */
  readonly timeline: EventFilter;
  /** Whether rooms that were left are part of an initial sync. */
  readonly includeLeave: boolean;
  /** The fields of events that are sent; all if absent. */
  readonly fields: readonly string[] | undefined;

  /** Reads a filter. */
  constructor(json: JsonObject) {
    const room = json.room ?? {};
    if (!isJsonObject(room)) throw refused("'room' must be an object");
    this.accountData = new EventFilter(json.account_data).requireValid();
    this.presence = new EventFilter(json.presence).requireValid();
    this.rooms = new EventFilter({ rooms: room.rooms, not_rooms: room.not_rooms }).requireValid();
    this.roomAccountData = new EventFilter(room.account_data, this.rooms).requireValid();
    this.ephemeral = new EventFilter(room.ephemeral, this.rooms).requireValid();
    this.state = new EventFilter(room.state, this.rooms).requireValid();
    this.timeline = new EventFilter(room.timeline, this.rooms).requireValid();
    this.includeLeave = room.include_leave === true;
    this.fields = strings(json, "event_fields");
    const { event_format } = json;
    if (event_format !== undefined && event_format !== "client" && event_format !== "federation") {
      throw refused(`'${event_format}' is not one of ['client', 'federation']`);
    }
  }
}

/** A filter given as JSON in a query parameter. */
export function parseFilterJson(text: string): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw badRequest("M_NOT_JSON", "Invalid filter JSON");
  }
  if (!isTruthy(json)) return {};
  if (!isJsonObject(json)) throw refused("A filter must be an object");
  return json;
}

/** Reduces an event to the fields that a filter names; a dot leads into an object. */
export function pickFields(event: JsonObject, fields: readonly string[] | undefined): JsonObject {
  if (fields === undefined) return event;
  const picked: JsonObject = {};
  for (const field of fields) {
    const keys = field.match(/(?:\\.|[^.\\])+/g)?.map((key) => key.replaceAll(/\\(.)/g, "$1")) ?? [];
    copyPath(event, picked, keys);
  }
  const { "m.relations": relations } = objectOf(event.unsigned);
  if (isJsonObject(relations)) {
    const { "m.replace": edit, "m.thread": thread } = relations;
    const withFields = (value: unknown) => pickFields(objectOf(value), fields);
    picked.unsigned = {
      ...objectOf(picked.unsigned),
      "m.relations": {
        ...relations,
        ...(isJsonObject(edit) ? { "m.replace": withFields(edit) } : {}),
        ...(isJsonObject(thread)
          ? { "m.thread": { ...thread, latest_event: withFields(thread.latest_event) } }
          : {}),
      },
    };
  }
  return picked;
}

function copyPath(from: JsonObject, to: JsonObject, [key, ...rest]: readonly string[]): void {
  if (key === undefined || !Object.hasOwn(from, key)) return;
  const value = from[key];
  if (rest.length === 0) {
    to[key] = value;
  } else if (isJsonObject(value)) {
    const target = isJsonObject(to[key]) ? to[key] : {};
    copyPath(value, target, rest);
    if (Object.keys(target).length > 0) to[key] = target;
  }
}

/**
 * The room that Synapse compares: none of account data, and none of a create event that gives its
 * room the ID.
 */
function roomOf({ roomId, id }: Filterable): string {
  return roomId === undefined || roomId.slice(1) === id?.slice(1) ? "" : roomId;
}

function strings(json: JsonObject, key: string): readonly string[] | undefined {
  const value = json[key];
  if (value === undefined || value === null) return undefined;
  const isNamed = key.endsWith("types") || key === "event_fields"; // by what code looks into
  if (!Array.isArray(value) || (isNamed && !value.every((item) => typeof item === "string"))) {
    throw refused(`'${key}' must be an array of strings`);
  }
  return value;
}

function matches(pattern: string, value: string): boolean {
  return String(pattern).endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : pattern === value;
}
