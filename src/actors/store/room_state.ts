/**
 * The state of rooms: as records in a store, or in memory for a client without one.
 *
 * @module
 */

import type { StoreKey, StoreMutation } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import { lastOfEach, Pieces, RoomPacks } from "./packed_state.ts";
import type { PrunedRooms, StatePiece, StateQuery } from "./store_protocol.ts";
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
  /**
   * Sets the state of a room that the user comes into: of each piece the last of the events.
   *
   * @param isKnown Whether the room was known, so that what is stored of it is old.
   */
  begin(
    roomId: RoomID,
    events: readonly StoredState[],
    isKnown: boolean,
    mutations: StoreMutation[],
  ): Promise<void>;
  /** Sets pieces of a room's state: of each the last of the events. */
  set(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void;
  /**
   * Removes pieces of a room's state.
   *
   * @param redacted What is left of these events is removed, too.
   *   Their pieces are set again, if they still had any.
   */
  remove(
    roomId: RoomID,
    pieces: readonly StatePiece[],
    mutations: StoreMutation[],
    redacted?: ReadonlySet<EventID | undefined>,
  ): Promise<void>;
  /** Removes a room's state: at most so many records, one at least, and with the last of them the packs. */
  clear(roomId: RoomID, limit: number, mutations: StoreMutation[]): Promise<PrunedRooms>;
  /**
   * Forgets what mutations change. It is called before they are committed, since a read may come right behind
   * the commit, and after it, since one may have come before it; the store may have refused some of them.
   */
  changed(mutations: readonly StoreMutation[]): void;
}

/** Of fewer events each gets a record: it costs less to set it. */
const MIN_PACK = 4;
/** Of more, too: all of a pack is read for one piece of state. */
const MAX_PACK = 256;

/** Names a piece of state. */
export function nameOf({ type, state_key }: StatePiece): string {
  return JSON.stringify([type, state_key]);
}

/**
 * Stores the state of a room in packs, and what changes later, piece by piece, in records: there a
 * piece is newer than in a pack.
 */
export class StoredRoomState implements RoomState {
  readonly #writer: StoreWriter;
  readonly #packs: RoomPacks;
  /** Whether no room that is not known has a record of state; undefined: it has not been looked for. */
  #isBare: boolean | undefined;

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
    this.#packs = new RoomPacks(writer);
  }

  getMany(queries: readonly StateQuery[]): Promise<(StoredState | undefined)[]> {
    return this.#packs.pieces(queries);
  }

  async list(roomId: RoomID, type?: string): Promise<StoredState[]> {
    const { keys } = this.#writer;
    const prefix = type === undefined ? keys.states(roomId) : keys.states(roomId, type);
    const records = await this.#writer.list<StoredState>(prefix);
    const pack = await this.#packs.get(roomId, type);
    if (pack.length === 0) return records;
    const pieces = new Pieces();
    pieces.set(pack);
    pieces.set(records);
    return pieces.list(type);
  }

  async begin(
    roomId: RoomID,
    events: readonly StoredState[],
    isKnown: boolean,
    mutations: StoreMutation[],
  ): Promise<void> {
    const pieces = lastOfEach(events);
    const isPack = pieces.length >= MIN_PACK && pieces.length <= MAX_PACK;
    if (isKnown) await this.clear(roomId, Infinity, mutations);
    // What was sent to the room, or read of it, before it was known may be newer.
    const packs = isPack && (isKnown || !await this.#hasRecords(roomId));
    const others = packs ? this.#packs.set(roomId, pieces, mutations) : pieces;
    this.#setRecords(roomId, others, mutations);
  }

  set(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void {
    if (events.length > 0) this.#isBare = false;
    this.#setRecords(roomId, events, mutations);
  }

  #setRecords(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): void {
    const { keys } = this.#writer;
    for (const event of events) mutations.push(set(keys.state(roomId, event.type, event.state_key), event));
  }

  async remove(
    roomId: RoomID,
    pieces: readonly StatePiece[],
    mutations: StoreMutation[],
    redacted: ReadonlySet<EventID | undefined> = new Set(),
  ): Promise<void> {
    const { keys } = this.#writer;
    const gone = new Set(pieces.map(nameOf));
    for (const { type, state_key } of pieces) {
      mutations.push({ type: "delete", key: keys.state(roomId, type, state_key) });
    }
    const isGone = (event: StoredState) => redacted.has(event.event_id) || gone.has(nameOf(event));
    await this.#packs.remove(roomId, isGone, mutations);
  }

  async clear(roomId: RoomID, limit: number, mutations: StoreMutation[]): Promise<PrunedRooms> {
    const { keys } = this.#writer;
    const records = await this.#writer.keysBelow(keys.states(roomId), limit + 1);
    const gone = records.slice(0, limit);
    for (const key of gone) mutations.push({ type: "delete", key });
    if (gone.length < records.length) return { removed: gone.length, isDone: false };
    const pack = await this.#packs.get(roomId);
    await this.#packs.remove(roomId, () => true, mutations);
    const packed = pack.map(({ type, state_key }) => keys.state(roomId, type, state_key));
    const pieces = new Set([...gone, ...packed].map((key) => JSON.stringify(key)));
    return { removed: pieces.size, isDone: true };
  }

  changed(mutations: readonly StoreMutation[]): void {
    this.#packs.changed(mutations);
  }

  /** Returns whether there is a record of a room's state. In a first sync none is, of any. */
  async #hasRecords(roomId: RoomID): Promise<boolean> {
    const { keys } = this.#writer;
    const has = async (prefix: StoreKey) => (await this.#writer.keysBelow(prefix, 1)).length > 0;
    this.#isBare ??= !await has(keys.states());
    return !this.#isBare && await has(keys.states(roomId));
  }
}

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

  begin(roomId: RoomID, events: readonly StoredState[], isKnown: boolean): Promise<void> {
    if (isKnown) this.#rooms.delete(roomId);
    if (events.length > 0) this.set(roomId, events);
    return Promise.resolve();
  }

  /** Nothing is left of redacted events: their pieces have been set again. */
  remove(roomId: RoomID, pieces: readonly StatePiece[]): Promise<void> {
    this.#rooms.get(roomId)?.remove(pieces);
    return Promise.resolve();
  }

  /** Removes everything in one step: that takes no time. */
  clear(roomId: RoomID): Promise<PrunedRooms> {
    const removed = this.#rooms.get(roomId)?.size ?? 0;
    this.#rooms.delete(roomId);
    return Promise.resolve({ removed, isDone: true });
  }

  /** Changes have taken effect before. */
  changed(): void {}
}
