/**
 * Where in a {@link KvStore} what is kept.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import { keyBelow } from "./key_size.ts";
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

  /** The same in the order in which they were handled, in portions: a text each; without a number, what they begin with. */
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
