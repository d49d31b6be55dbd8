/**
 * Where in a {@link KvStore} what is kept.
 *
 * @module
 */

import { nodeCryptoNow } from "../../base/node_crypto.ts";
import type { RoomID } from "../../types/ids.ts";
import type { KvKey } from "../kv_store.ts";

/** The keys of one account and device: a store can be shared by many. */
export class StoreKeys {
  readonly #prefix: KvKey;

  /** @param prefix Stands in front of every key. */
  constructor(prefix: KvKey) {
    this.#prefix = prefix;
  }

  #below(...path: string[]): KvKey {
    return keyBelow(this.#prefix, path);
  }

  /** Who may write: changes when another process takes the device, and only then. */
  owner(): KvKey {
    return this.#below("owner");
  }

  /** Until when nobody else may take the device. */
  lease(): KvKey {
    return this.#below("lease");
  }

  /** The version of the schema that all other records follow. */
  schema(): KvKey {
    return this.#below("schema");
  }

  /** There as long as an import of the device is under way. */
  importing(): KvKey {
    return this.#below("importing");
  }

  /** The position in the sync stream: a `SyncRecord`. */
  sync(): KvKey {
    return this.#below("sync");
  }

  /** What is known of all rooms: a `RoomRecord` below for each. */
  rooms(): KvKey {
    return this.#below("room");
  }

  /** What is known of a room: a `RoomRecord`. */
  room(roomId: RoomID): KvKey {
    return this.#below("room", roomId);
  }

  /** Which events of rooms have been handled, the latest. */
  shown(): KvKey {
    return this.#below("shown");
  }

  /** The same of one room, if it is long ago: a `ShownRecord`. */
  shownRoom(tag: string): KvKey {
    return this.#below("shown", "room", tag);
  }

  /**
   * The same in the order in which they were handled, in portions: a text each; without a number,
   * what they begin with.
   */
  shownLog(portion?: number): KvKey {
    return portion === undefined
      ? this.#below("shown", "log")
      : this.#below("shown", "log", String(portion).padStart(12, "0"));
  }

  /** The state of a room, all of it or all of a type: state events below. */
  states(roomId: RoomID, type?: string): KvKey {
    return type === undefined ? this.#below("state", roomId) : this.#below("state", roomId, type);
  }

  /** One state event of a room. */
  state(roomId: RoomID, type: string, stateKey: string): KvKey {
    return this.#below("state", roomId, type, stateKey);
  }

  /** A record of another actor's, or what its records begin with. */
  record(path: KvKey): KvKey {
    return keyBelow(this.#prefix, path);
  }
}

/** How many parts of a device's keys name the device: the user and the device ID. */
export const DEVICE_PARTS = 2;

/** The part with which the keys of a kind of records begin that has kinds below it. */
const WITH_KINDS = "crypto";

/** Whether a key belongs to a device: its first part is a user ID. */
export function isDeviceKey(key: KvKey): boolean {
  return key.length > DEVICE_PARTS && key[0]?.startsWith("@") === true;
}

/**
 * The kind of a record: `sync`, `room`, `state` and so on, and `crypto/account` and so on for those
 * of the encryption.
 *
 * @param path The key, without the parts that name the device.
 */
export function kindOf(path: KvKey): string {
  const [first = "", second] = path;
  return first === WITH_KINDS && second !== undefined ? `${first}/${second}` : first;
}

/**
 * How many bytes the parts of a key may take that stand as they are: less than the 2,048 that Deno
 * KV allows for all of a key, so that there is room for what it puts in front, and for four names
 * behind that are hashed.
 */
const MAX_BYTES = 1_760;
/** Begins what stands in the place of a name. */
const HASHED = "sha256:";
/**
 * The most that a store makes of 16 bits of a text: an escape of three bytes, and three for what is
 * escaped.
 */
const MOST_BYTES_PER_UNIT = 6;
const END_OF_PART = 2;
/** What Deno KV's store escapes with, and escapes. */
const ESCAPE = 0xe000;

/**
 * The key of a path below a prefix. A name that would make it too long is replaced by its hash, and
 * so is what could be taken for a hash. Whether it is depends on nothing that comes behind it, so
 * that what is below a path is found below it.
 */
function keyBelow(prefix: KvKey, path: KvKey): KvKey {
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
  return HASHED + nodeCryptoNow().createHash("sha256").update(part, "utf16le").digest("base64url");
}

/** So it is with nearly all: they need not be measured. */
function surelyFits(key: KvKey): boolean {
  let units = 0;
  for (const part of key) units += part.length;
  return MOST_BYTES_PER_UNIT * units + END_OF_PART * key.length <= MAX_BYTES;
}

/**
 * How many bytes a part takes in the store that makes most of it, which is Deno KV with what it
 * escapes.
 */
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
const LOCAL_KINDS: ReadonlySet<string | undefined> = new Set(["owner", "lease", "importing"]);

/**
 * Whether a record is about the use of the device in this store. Such records are not copied.
 *
 * @param path The key, without the parts that name the device.
 */
export function isLocal(path: KvKey): boolean {
  return LOCAL_KINDS.has(path[0]);
}
