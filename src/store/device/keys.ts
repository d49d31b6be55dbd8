/**
 * The keys of a device's records in a {@link Store}.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";
import type { RoomID } from "../../types/ids.ts";
import type { StoreKey } from "../base/mod.ts";

/** The keys of one device: a store can contain many. */
export class StoreKeys {
  readonly #prefix: StoreKey;

  /** @param prefix The beginning of every key. */
  constructor(prefix: StoreKey) {
    this.#prefix = prefix;
  }

  #below(...path: string[]): StoreKey {
    return keyBelow(this.#prefix, path);
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

  /** A record of another actor, or the prefix of its records. */
  record(path: StoreKey): StoreKey {
    return keyBelow(this.#prefix, path);
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

/**
 * The key of a path below a prefix. A name that would make it too long is replaced by its hash, and
 * so is a name that looks like a hash. Whether one is does not depend on the names behind it, so
 * that what is below a path is found below it.
 */
function keyBelow(prefix: StoreKey, path: StoreKey): StoreKey {
  const key = prefix.concat(path); // not by `[...prefix, …]`, which takes twice the time and makes an array with room for many more
  if (surelyFits(key) && !path.some(isHashed)) return key;
  let bytes = 0;
  return key.map((part, index) => {
    const taken = bytesOf(part);
    const fits = bytes + taken <= MAX_BYTES && !isHashed(part);
    if (index < prefix.length || fits) bytes += taken;
    return index < prefix.length || fits ? part : hashed(part);
  });
}

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
