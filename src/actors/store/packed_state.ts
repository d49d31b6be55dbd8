/**
 * The pieces of a room's state, of each type and state key the last event; and packs, most of it in two records.
 * A first sync brings the state of all rooms, and a record for each event would take most of its time.
 *
 * @module
 */

import { WeighedCache } from "../../base/recent_map.ts";
import { compareParts, type StoreKey, type StoreMutation } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { RoomID } from "../../types/ids.ts";
import type { StatePiece, StateQuery } from "./store_protocol.ts";
import type { Parts } from "./acceptable_changes.ts";
import { set, type StoreWriter } from "./writer.ts";

/** How large a pack may be, in characters: all of it is read for one piece of state. */
const MAX_SIZE = 200_000;
/** What is nested deeper counts as so large: stores take more time for it. */
const MAX_DEPTH = 32;
/** The size of all that is remembered, in characters. */
const REMEMBERED = 4_000_000;
/** What a record counts for there beside its events. */
const EACH = 1_000;

/** Events of a room's state. Of several for the same piece of it, the last one counts. */
export type Pack = readonly StoredState[];

/**
 * A room has a pack of its members and one of the rest: what is read most often, as power levels are, is
 * among few.
 */
type Part = "members" | "rest";

/** Both parts. */
const PARTS: readonly Part[] = ["members", "rest"];
const NONE: Pack = [];

/** Reads and writes packs: lists of events; and reads single pieces of state. */
export class RoomPacks {
  readonly #writer: StoreWriter;
  /** The records that were read last, as they are in the store, and those that are not there. */
  readonly #known = new WeighedCache<string, { readonly value: unknown }>(REMEMBERED);

  /** @param writer Reads. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /**
   * Reads packs, and with the same read records of single pieces.
   *
   * @param types Rooms and types of state.
   * @returns In the place of each type the pack that has it; empty where there is none.
   */
  async read(
    types: readonly Pick<StateQuery, "roomId" | "type">[],
    pieces: readonly StoreKey[] = [],
  ): Promise<{ readonly packs: readonly Pack[]; readonly values: readonly (StoredState | undefined)[] }> {
    const packs = types.map(({ roomId, type }) => this.#writer.keys.statePack(roomId, partOf(type)));
    const values = await this.#read([...pieces, ...packs]);
    return {
      values: values.slice(0, pieces.length) as (StoredState | undefined)[],
      packs: values.slice(pieces.length).map((pack) => (pack ?? NONE) as Pack), // as #change() writes it
    };
  }

  /** Records, of which those are read that are not known. */
  async #read(keys: readonly StoreKey[]): Promise<unknown[]> {
    const byName = new Map(keys.map((key) => [nameOf(key), key]));
    const found = new Map(byName.keys().map((name) => [name, this.#known.get(name)]));
    const missing = [...byName].filter(([name]) => found.get(name) === undefined);
    const values = await this.#writer.getMany(missing.map(([, key]) => key));
    for (const [index, [name]] of missing.entries()) {
      const record = { value: values[index] };
      this.#known.set(name, record, EACH + sizeOf(record.value));
      found.set(name, record);
    }
    return keys.map((key) => found.get(nameOf(key))?.value);
  }

  /** Reads what the packs of a room have of a type, or of the same part; without a type, all. */
  async get(roomId: RoomID, type?: string): Promise<Pack> {
    const types = type === undefined ? ["m.room.member", ""] : [type];
    const { packs } = await this.read(types.map((each) => ({ roomId, type: each })));
    return packs.flat();
  }

  /**
   * Sets the packs of a room that has no state.
   *
   * @returns What would make them too large: to be stored otherwise.
   */
  set(roomId: RoomID, events: readonly StoredState[], mutations: StoreMutation[]): readonly StoredState[] {
    const others: StoredState[] = [];
    for (const part of PARTS) {
      const pack = lightest(events.filter(({ type }) => partOf(type) === part), others);
      const parts = () => Promise.resolve(this.#records(roomId, pack));
      if (pack.length > 0) mutations.push(this.#change(roomId, part, pack, parts));
    }
    return others;
  }

  /** Takes events out of the packs of a room. */
  async remove(
    roomId: RoomID,
    isGone: (event: StoredState) => boolean,
    mutations: StoreMutation[],
  ): Promise<void> {
    const all = await this.get(roomId);
    for (const part of PARTS) {
      const pack = all.filter(({ type }) => partOf(type) === part);
      const left = pack.filter((event) => !isGone(event));
      const parts = () => this.#missingRecords(roomId, left);
      if (left.length < pack.length) mutations.push(this.#change(roomId, part, left, parts));
    }
  }

  /** Forgets the records that mutations change. */
  changed(mutations: readonly StoreMutation[]): void {
    for (const { key } of mutations) this.#known.delete(nameOf(key));
  }

  #change(roomId: RoomID, part: Part, pack: Pack, parts: Parts): StoreMutation {
    const key = this.#writer.keys.statePack(roomId, part);
    return pack.length === 0 ? { type: "delete", key } : this.#writer.divisible(set(key, pack), parts);
  }

  #records(roomId: RoomID, pack: Pack): StoreMutation[] {
    return pack.map((event) => set(this.#writer.keys.state(roomId, event.type, event.state_key), event));
  }

  /** Those of which the store has no newer record. */
  async #missingRecords(roomId: RoomID, pack: Pack): Promise<StoreMutation[]> {
    const records = this.#records(roomId, pack);
    const known = await this.#writer.getMany(records.map(({ key }) => key));
    return records.filter((_, index) => known[index] === undefined);
  }
}

/** As many events as are not too large together, those that are small first. */
function lightest(events: Pack, others: StoredState[]): Pack {
  if (sizeOf(events) < MAX_SIZE) return events; // the usual case
  const weighed = events.map((event) => ({ event, size: sizeOf(event) }));
  weighed.sort((one, other) => one.size - other.size);
  const pack: StoredState[] = [];
  let left = MAX_SIZE;
  for (const { event, size } of weighed) {
    left -= size;
    (left >= 0 ? pack : others).push(event);
  }
  return pack;
}

/** Some characters more than a value has as JSON, but for escapes. Unlike JSON it makes no text. */
function sizeOf(value: unknown, depth = MAX_DEPTH): number {
  if (typeof value === "string") return value.length + 3;
  if (typeof value !== "object" || value === null) return 24;
  if (depth === 0) return MAX_SIZE;
  let size = 3;
  if (Array.isArray(value)) {
    for (const each of value) size += sizeOf(each, depth - 1);
  } else {
    // deno-lint-ignore guard-for-in -- it makes no list, which takes most of the time; JSON inherits nothing
    for (const key in value) {
      size += key.length + 3 + sizeOf((value as Record<string, unknown>)[key], depth - 1);
    }
  }
  return size;
}

function partOf(type: string): Part {
  return type === "m.room.member" ? "members" : "rest";
}

/** Names a record of state by the last parts of its key, of which others may have chosen each. */
function nameOf(key: StoreKey): string {
  const [room, type] = [String(key.at(-3)), String(key.at(-2))];
  return `${room.length} ${type.length} ${room}${type}${key.at(-1)}`;
}

/** Of each piece of state the last event: what was replaced may be redacted, and is not stored. */
export function lastOfEach(events: readonly StoredState[]): readonly StoredState[] {
  if (areApart(events)) return events; // the usual case
  const last = new Map(
    events.map((event) => [`${event.type.length} ${event.type}${event.state_key}`, event]),
  );
  return [...last.values()];
}

function areApart(events: readonly StoredState[]): boolean {
  const keys = new Map<string, Set<string>>();
  for (const { type, state_key } of events) {
    let ofType = keys.get(type);
    if (ofType === undefined) keys.set(type, ofType = new Set());
    if (ofType.size === ofType.add(state_key).size) return false;
  }
  return true;
}

export function isPiece(type: string, stateKey: string): (event: StoredState) => boolean {
  return (event) => event.state_key === stateKey && event.type === type;
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
 * The state of a room. Events are sorted in after a few reads: most rooms are never read, and a
 * first sync brings the state of all of them.
 */
export class Pieces {
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
    return this.#waiting.findLast(isPiece(type, stateKey)) ?? this.#byType?.get(type)?.get(stateKey);
  }

  list(type?: string): StoredState[] {
    this.#sort();
    const types = type === undefined ? inOrder(this.#byType) : [this.#byType?.get(type)];
    return types.flatMap(inOrder);
  }

  remove(pieces: readonly StatePiece[]): void {
    this.#sort();
    for (const { type, state_key } of pieces) {
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
