/**
 * The keys of a device's records in a {@link Store}, the records beside the state events, and who may do what
 * in a room by its power levels.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroompower_levels | m.room.power_levels}
 * @see {@link https://spec.matrix.org/v1.19/rooms/v12/ | Room version 12}
 *
 * Over 300 lines because each key stands beside the record that it names.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";
import type { Membership } from "../../types/enums.ts";
import type { StateEvent, StrippedStateEvent } from "../../types/events/event.ts";
import type { EventID, FilterID, RoomID, SyncToken, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { StoreKey } from "../base/mod.ts";

/** The keys of one device: a store can contain many. */
export class StoreKeys {
  readonly #prefix: StoreKey;

  /** @param prefix The beginning of every key. */
  constructor(prefix: StoreKey) {
    this.#prefix = prefix;
  }

  #below(...path: string[]): StoreKey {
    return this.record(path);
  }

  /** The owner: changes only when another process takes the device. */
  owner(): StoreKey {
    return this.#below("owner");
  }

  /** Until when no other process may take the device. */
  lease(): StoreKey {
    return this.#below("lease");
  }

  /** Changes when a process wants the device while another holds it, and may not wait. */
  wanted(): StoreKey {
    return this.#below("wanted");
  }

  /** The version of the schema that all other records follow. */
  schema(): StoreKey {
    return this.#below("schema");
  }

  /** Exists while an import of the device is unfinished. */
  importing(): StoreKey {
    return this.#below("importing");
  }

  /** The position in the sync stream: a `SyncRecord`. */
  sync(): StoreKey {
    return this.#below("sync");
  }

  /** The prefix of all rooms: a `RoomRecord` below for each. */
  rooms(): StoreKey {
    return this.#below("room");
  }

  /** A room: a `RoomRecord`. */
  room(roomId: RoomID): StoreKey {
    return this.#below("room", roomId);
  }

  /** The prefix of the latest handled events. */
  shown(): StoreKey {
    return this.#below("shown");
  }

  /** The latest handled events of a quiet room: a `ShownRecord`. */
  shownRoom(tag: string): StoreKey {
    return this.#below("shown", "room", tag);
  }

  /**
   * The log of handled events, in portions: a text each; without a number, the prefix of the
   * portions.
   */
  shownLog(portion?: number): StoreKey {
    return portion === undefined
      ? this.#below("shown", "log")
      : this.#below("shown", "log", String(portion).padStart(12, "0"));
  }

  /** A response that has not been handled, by its number; without one, the prefix of all of them. */
  keptResponse(number?: number): StoreKey {
    return number === undefined ? this.#below("kept") : this.#below("kept", String(number).padStart(12, "0"));
  }

  /**
   * A list of events of a room's state, of its members or of the rest: most of what it had when the user came
   * into it. A record of one state event is newer than what the list has in its place.
   */
  statePack(roomId: RoomID, part: "members" | "rest"): StoreKey {
    return this.#below("pack", roomId, part);
  }

  /** The prefix of the records of state events: of all rooms, of one, or of one and a type. */
  states(...path: [] | [roomId: RoomID] | [roomId: RoomID, type: string]): StoreKey {
    return this.#below("state", ...path);
  }

  /** One state event of a room. */
  state(roomId: RoomID, type: string, stateKey: string): StoreKey {
    return this.#below("state", roomId, type, stateKey);
  }

  /**
   * A record, of another actor too, or the prefix of records. A name that would make the key too long is
   * replaced by its hash, and so is a name that looks like a hash. Whether one is does not depend on the
   * names behind it, so that what is below a path is found below it.
   */
  record(path: StoreKey): StoreKey {
    const { length } = this.#prefix;
    // Not by `[...prefix, …]`, which takes twice the time and makes an array with room for many more.
    const key = this.#prefix.concat(path);
    if (surelyFits(key) && !path.some(isHashed)) return key;
    let bytes = 0;
    return key.map((part, index) => {
      const taken = bytesOf(part);
      const fits = bytes + taken <= MAX_BYTES && !isHashed(part);
      if (index < length || fits) bytes += taken;
      return index < length || fits ? part : hashed(part);
    });
  }
}

/** The number of key parts that name the device: the user and the device ID. */
export const DEVICE_PARTS = 2;

/** The first part of keys whose kind has two parts. */
const WITH_KINDS = "crypto";

/** Returns whether a key belongs to a device: its first part is a user ID. */
export function isDeviceKey(key: StoreKey): boolean {
  return key.length > DEVICE_PARTS && key[0]?.startsWith("@") === true;
}

/**
 * The kind of a record: `sync`, `room`, `state` and so on, and `crypto/account` and so on of the
 * encryption. It may be shown: it names neither user nor room.
 *
 * @param path The key, without the parts that name the device.
 */
export function kindOf(path: StoreKey): string {
  const [first = "", second] = path;
  return first === WITH_KINDS && second !== undefined ? `${first}/${second}` : first;
}

/**
 * The most bytes of the parts of a key that are used unchanged: fewer than the 2,048 that Deno KV
 * allows, so that there is room for its own prefix, and for four hashed names.
 */
const MAX_BYTES = 1_760;
/** The prefix of the hash of a name. */
const HASHED = "sha256:";
/**
 * The most bytes that a store uses for a UTF-16 unit: an escape of three, and three for the unit.
 */
const MOST_BYTES_PER_UNIT = 6;
const END_OF_PART = 2;
/** The escape character of Deno KV's store, which it escapes too. */
const ESCAPE = 0xe000;

function isHashed(part: string): boolean {
  return part.startsWith(HASHED);
}

function hashed(part: string): string {
  return HASHED + platform.cryptoNow().createHash("sha256").update(part, "utf16le").digest("base64url");
}

/** Returns whether a key is short enough whatever its characters, as nearly all are. */
function surelyFits(key: StoreKey): boolean {
  let units = 0;
  for (const part of key) units += part.length;
  return MOST_BYTES_PER_UNIT * units + END_OF_PART * key.length <= MAX_BYTES;
}

/** The bytes of a part in the store that uses most: Deno KV's, with its escapes. */
function bytesOf(part: string): number {
  const half = part.isWellFormed() ? 2 : MOST_BYTES_PER_UNIT;
  let bytes = END_OF_PART;
  for (let index = 0; index < part.length; index++) {
    const unit = part.charCodeAt(index);
    if (unit === 0) bytes += 2;
    else if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit < 0xd800 || unit > ESCAPE) bytes += 3;
    else bytes += unit === ESCAPE ? MOST_BYTES_PER_UNIT : half;
  }
  return bytes;
}

/**
 * Kinds of records that say who uses the device in this store, and whether it is being imported.
 */
const LOCAL_KINDS: ReadonlySet<string | undefined> = new Set(["owner", "lease", "wanted", "importing"]);

/**
 * Returns whether a record is about the use of the device in this store. Such records are not copied.
 *
 * @param path The key, without the parts that name the device.
 */
export function isLocal(path: StoreKey): boolean {
  return LOCAL_KINDS.has(path[0]);
}

/** A state event as it is stored: whole, or stripped in rooms that the user is not in. */
export type StoredState = StateEvent | StrippedStateEvent;

/** The position in the sync stream. */
export interface SyncRecord {
  /** The token up to which room state and keys are committed. */
  readonly nextBatch?: SyncToken;
  /** The token at the end of the very first response, until its handlers have settled. */
  readonly first?: SyncToken;
  /** The token up to which all handlers have settled. */
  readonly handled?: SyncToken;
  /**
   * Why the responses after `nextBatch` may show what was delivered before. Absent: they do not.
   */
  readonly again?: CatchUp;
  /**
   * Whether encryption has stored its part of the response that comes after `nextBatch`: its events
   * count as shown there, but have not been delivered. Absent: it has not.
   */
  readonly ahead?: true;
  /** Present while the client syncs anew, since the server does not know the token any more. */
  readonly anew?: Anew;
  /**
   * The events by which rooms became encrypted in what has not been handled: it may come again, with them.
   */
  readonly began?: readonly EventID[];
  /** The rooms whose membership has changed in what has not been handled, and what it was before. */
  readonly moved?: readonly MovedRoom[];
  /** How many processes in a row have ended without handling anything. */
  readonly crashes?: number;
  /** The events that were handled last. */
  readonly shown?: ShownLogEnd;
  /** The uploaded filter, and its definition. */
  readonly filter?: { readonly id: FilterID; readonly definition: string };
}

/**
 * A room, the user's membership before a response (null: none was known), and the token that the response
 * ends with.
 */
export type MovedRoom = readonly [roomId: RoomID, before: Membership | null, nextBatch: SyncToken];

/**
 * The time in which a client receives what was received before: it has gone back to an earlier
 * position. The server may divide it into responses in another way than then.
 */
export interface CatchUp {
  /** The token up to which it was received then; absent: unknown. */
  readonly until?: SyncToken;
  /** When it began, in milliseconds since the epoch. */
  readonly from: number;
  /** Whether the application has moved the position. */
  readonly moved?: true;
}

/** A sync that begins at the start once more, of a client that has handled events before. */
interface Anew {
  /** Where its response ends, if that was committed: what comes behind is as usual. */
  readonly end?: SyncToken;
}

/** The end of the log of events that have been handled. */
export interface ShownLogEnd {
  /** The text since the last portion: it is stored with the position, which is written anyway. */
  readonly text: string;
  /** The number of the oldest portion that is kept. */
  readonly from: number;
  /** The number of the portion that the text will be. */
  readonly to: number;
}

/**
 * The latest events of a room: those in portions of the log from a number on come after them,
 * but for what stands before an entry of the room without names.
 */
export type ShownRecord = readonly [to: number, shown: string];

/** A room, beside its state. */
export interface RoomRecord {
  readonly roomId: RoomID;
  /** The user's membership. */
  readonly membership: Membership;
  /** Whether all members are stored. */
  readonly allMembers: boolean;
  /**
   * The content of the first `m.room.encryption` that was seen, which is final; `false`: the server
   * says that there is none.
   */
  readonly encryption?: JsonObject | false;
  /**
   * The ID of that event, if it came with a sync: events before it in the timeline may be in clear.
   */
  readonly encryptedBy?: EventID;
  /** The user's last own joins: events before them were history. */
  readonly entries?: readonly EventID[];
  /** The room's latest events in the very first response, if it was in that: see `ShownEvents`. */
  readonly first?: string;
  /**
   * When the room was left, in milliseconds since the epoch, while state of it may be stored;
   * absent for other rooms.
   */
  readonly leftAt?: number;
}

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

/** Returns whether a user's level is enough for an action. */
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
