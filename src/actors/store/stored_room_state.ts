/**
 * The state of rooms as records in a store.
 *
 * @module
 */

import type { KvMutation } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { RoomID } from "../../types/ids.ts";
import type { PrunedRooms, StateQuery } from "./store_protocol.ts";
import { set, type StoreWriter } from "./writer.ts";

/**
 * The state of rooms. A change takes effect when the mutations that it adds are committed, at the
 * latest, in the order of the calls.
 */
export interface RoomState {
  /** Pieces of state, each in the place of its query; `undefined` where there is none. */
  getMany(queries: readonly StateQuery[]): Promise<(StoredState | undefined)[]>;
  /** A room's state, all of it or all of a type, in the order of types and state keys. */
  list(roomId: RoomID, type?: string): Promise<StoredState[]>;
  /** Sets pieces of a room's state: of each the last of the events. */
  set(roomId: RoomID, events: readonly StoredState[], mutations: KvMutation[]): void;
  /** Removes pieces of a room's state. */
  remove(roomId: RoomID, events: readonly StoredState[], mutations: KvMutation[]): void;
  /** Removes a room's state, at most so many pieces. */
  clear(roomId: RoomID, limit: number, mutations: KvMutation[]): Promise<PrunedRooms>;
}

/** Stores each piece of state as a record of its own. */
export class StoredRoomState implements RoomState {
  readonly #writer: StoreWriter;

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  async getMany(queries: readonly StateQuery[]): Promise<(StoredState | undefined)[]> {
    const { keys } = this.#writer;
    return await this.#writer.getMany<StoredState>(
      queries.map(({ roomId, type, stateKey }) => keys.state(roomId, type, stateKey)),
    );
  }

  async list(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return await this.#writer.list<StoredState>(this.#writer.keys.states(roomId, type));
  }

  set(roomId: RoomID, events: readonly StoredState[], mutations: KvMutation[]): void {
    const { keys } = this.#writer;
    for (const event of events) mutations.push(set(keys.state(roomId, event.type, event.state_key), event));
  }

  remove(roomId: RoomID, events: readonly StoredState[], mutations: KvMutation[]): void {
    const { keys } = this.#writer;
    for (const { type, state_key } of events) {
      mutations.push({ type: "delete", key: keys.state(roomId, type, state_key) });
    }
  }

  async clear(roomId: RoomID, limit: number, mutations: KvMutation[]): Promise<PrunedRooms> {
    const found = await this.#writer.keysBelow(this.#writer.keys.states(roomId), limit + 1);
    const gone = found.slice(0, limit);
    for (const key of gone) mutations.push({ type: "delete", key });
    return { removed: gone.length, isDone: gone.length === found.length };
  }
}
