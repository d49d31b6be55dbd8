/**
 * What the Syncer remembers of rooms from one response to the next.
 *
 * @module
 */

import { WeighedCache } from "../../base/weighed_cache.ts";
import type { RoomID } from "../../types/ids.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { RememberedRoom, StoreProtocol } from "../store/store_protocol.ts";

/** How much is remembered, in characters: some 100 bytes a room beside its events, so 10 MB at most. */
const CAPACITY = 8_000_000;
const WEIGHT_OF_ROOM = 100;

/** Remembers rooms; what is not remembered any more, the Store knows as far as it has been handled. */
export class RoomMemory {
  readonly #store: ActorRef<StoreProtocol>;
  readonly #rooms = new WeighedCache<RoomID, RememberedRoom>(CAPACITY);

  /** @param store Knows what earlier processes have handled. */
  constructor(store: ActorRef<StoreProtocol>) {
    this.#store = store;
  }

  /** What is remembered of a room. */
  get(roomId: RoomID): RememberedRoom | undefined {
    return this.#rooms.get(roomId);
  }

  /** What the Store knows of rooms that are not remembered, in the order of the rooms. */
  recall(roomIds: readonly RoomID[]): Promise<readonly RememberedRoom[]> {
    return this.#store.ask("remembered", roomIds);
  }

  /** Remembers something of a room; undefined: nothing, so that the Store is to be asked. */
  set(roomId: RoomID, room: RememberedRoom | undefined): void {
    if (room === undefined) this.#rooms.delete(roomId);
    else this.#rooms.set(roomId, room, room.shown.length + WEIGHT_OF_ROOM);
  }

  /** Forgets everything but what the Store knows. */
  clear(): void {
    this.#rooms.clear();
  }
}
