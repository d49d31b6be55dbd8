/**
 * The state of rooms: as records in a store, or in memory for a client without one.
 *
 * @module
 */

import { compareParts, type StoreMutation } from "../../store/base/mod.ts";
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
  set(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void;
  /** Removes pieces of a room's state. */
  remove(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void;
  /** Removes a room's state, at most so many pieces. */
  clear(roomId: RoomID, limit: number, mutations: StoreMutation[]): Promise<PrunedRooms>;
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

  set(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void {
    const { keys } = this.#writer;
    for (const event of events) mutations.push(set(keys.state(roomId, event.type, event.state_key), event));
  }

  remove(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void {
    const { keys } = this.#writer;
    for (const { type, state_key } of events) {
      mutations.push({ type: "delete", key: keys.state(roomId, type, state_key) });
    }
  }

  async clear(roomId: RoomID, limit: number, mutations: StoreMutation[]): Promise<PrunedRooms> {
    const found = await this.#writer.keysBelow(this.#writer.keys.states(roomId), limit + 1);
    const gone = found.slice(0, limit);
    for (const key of gone) mutations.push({ type: "delete", key });
    return { removed: gone.length, isDone: gone.length === found.length };
  }
}

/**
 * How many events of a room may wait to be sorted in, beside as many as it has pieces of state.
 * This bounds the work of the first read, and the memory of rooms that are never read.
 */
const MAX_WAITING = 64;

/**
 * After so many reads through the events that wait, they are sorted in. One such read takes at most
 * a tenth of the time of sorting.
 */
const MAX_READS = 8;

/**
 * Keeps the state of rooms in memory: the events themselves, not copies. Changes take effect
 * immediately: there is no commit that could fail.
 */
export class MemoryRoomState implements RoomState {
  readonly #rooms = new Map<RoomID, Pieces>();

  getMany(queries: readonly StateQuery[]): Promise<(StoredState | undefined)[]> {
    return Promise.resolve(
      queries.map(({ roomId, type, stateKey }) => this.#rooms.get(roomId)?.get(type, stateKey)),
    );
  }

  list(roomId: RoomID, type?: string): Promise<StoredState[]> {
    return Promise.resolve(this.#rooms.get(roomId)?.list(type) ?? []);
  }

  set(roomId: RoomID, events: readonly StoredState[]): void {
    let pieces = this.#rooms.get(roomId);
    if (pieces === undefined) this.#rooms.set(roomId, pieces = new Pieces());
    pieces.set(events);
  }

  remove(roomId: RoomID, events: readonly StoredState[]): void {
    this.#rooms.get(roomId)?.remove(events);
  }

  /** Removes everything in one step: that takes no time. */
  clear(roomId: RoomID): Promise<PrunedRooms> {
    const removed = this.#rooms.get(roomId)?.size ?? 0;
    this.#rooms.delete(roomId);
    return Promise.resolve({ removed, isDone: true });
  }
}

/**
 * The state of a room. Events are sorted in after a few reads: most rooms are never read, and a
 * first sync brings the state of all of them.
 */
class Pieces {
  /** The events that have been sorted in, by type and state key; undefined before the first are. */
  #byType: Map<string, Map<string, StoredState>> | undefined;
  #sorted = 0;
  /** Events that wait to be sorted in, from old to new. */
  #waiting: StoredState[] = [];
  /** When so many wait, they are sorted in without a read. */
  #limit = 0;
  #reads = 0;

  get size(): number {
    this.#sort();
    return this.#sorted;
  }

  set(events: readonly StoredState[]): void {
    if (this.#waiting.length === 0) {
      this.#limit = this.#sorted + events.length + MAX_WAITING;
      this.#waiting = events.slice();
    } else {
      for (const event of events) this.#waiting.push(event);
      if (this.#waiting.length > this.#limit) this.#sort();
    }
  }

  get(type: string, stateKey: string): StoredState | undefined {
    if (this.#waiting.length > 0 && ++this.#reads > MAX_READS) this.#sort();
    const isIt = (event: StoredState) => event.state_key === stateKey && event.type === type;
    return this.#waiting.findLast(isIt) ?? this.#byType?.get(type)?.get(stateKey);
  }

  list(type?: string): StoredState[] {
    this.#sort();
    const types = type === undefined ? inOrder(this.#byType) : [this.#byType?.get(type)];
    return types.flatMap(inOrder);
  }

  remove(events: readonly StoredState[]): void {
    this.#sort();
    for (const { type, state_key } of events) {
      const byKey = this.#byType?.get(type);
      if (byKey?.delete(state_key) !== true) continue;
      this.#sorted--;
      if (byKey.size === 0) this.#byType?.delete(type);
    }
  }

  #sort(): void {
    const byType = this.#byType ??= new Map();
    for (const event of this.#waiting) {
      let byKey = byType.get(event.type);
      if (byKey === undefined) byType.set(event.type, byKey = new Map());
      const before = byKey.size;
      byKey.set(event.state_key, event);
      this.#sorted += byKey.size - before;
    }
    this.#waiting = [];
    this.#reads = 0;
  }
}

/** Values in the order of their keys, as stores have them. */
function inOrder<Value>(values: ReadonlyMap<string, Value> = new Map()): Value[] {
  return [...values].sort((first, second) => compareParts(first[0], second[0])).map(([, value]) => value);
}
