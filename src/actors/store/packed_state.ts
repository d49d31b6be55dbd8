/**
 * The pieces of a room's state, of each type and state key the last event; and packs, most
 * of it in two records. A first sync brings the state of all rooms, and a record for each
 * event would take most of its time.
 *
 * Over 300 lines because what is in a pack, and how it is stored, is one thing.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import { compareParts, type StoreKey, type StoreMutation } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import { isList, type JsonObject } from "../../types/json.ts";
import { SyncStream } from "../../types/events/event.ts";
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

/**
 * An event as a pack stores it: without the names of its members, and without what the one before it or its
 * own state key says already, which is null. That halves its text, and a first sync is as slow as its commit
 * is large.
 */
type Row = readonly [
  type: string | null,
  stateKey: string,
  sender: UserID | null,
  eventId: EventID,
  time: number,
  source: number,
  content: JsonObject,
  unsigned?: StoredState["unsigned"],
];

/** How many members an event has that can be a row, beside `unsigned`. */
const MEMBERS = 8;

/**
 * The value of a pack.
 *
 * @param roomId The room of its events.
 */
function packed(pack: Pack, roomId: RoomID): readonly (Row | StoredState)[] {
  let before: string | undefined;
  return pack.map((event): Row | StoredState => {
    const { type, state_key, sender, event_id, origin_server_ts, source, content, unsigned, room_id } = event;
    const members = MEMBERS + (unsigned === undefined ? 0 : 1);
    if (
      room_id !== roomId || event_id === undefined || origin_server_ts === undefined ||
      source === undefined ||
      Object.keys(event).length !== members
    ) return event; // an event with other members is stored as it is
    const kind = type === before ? null : before = type;
    const by = sender === state_key ? null : sender;
    return unsigned === undefined
      ? [kind, state_key, by, event_id, origin_server_ts, source, content]
      : [kind, state_key, by, event_id, origin_server_ts, source, content, unsigned];
  });
}

/** The events of a pack, given its value. */
export function unpacked(value: unknown, roomId: RoomID): Pack {
  let before = "";
  return (value as ReturnType<typeof packed>).map((each) => { // packed() made it
    if (!isList(each)) return each;
    const [type, state_key, sender, event_id, origin_server_ts, source, content, unsigned] = each as Row;
    before = type ?? before;
    return {
      type: before,
      state_key,
      sender: sender ?? state_key,
      event_id,
      origin_server_ts,
      content,
      ...(unsigned !== undefined && { unsigned }),
      source,
      room_id: roomId,
    } as StoredState;
  });
}

/** Both parts. */
const PARTS: readonly Part[] = ["members", "rest"];
const NONE: Pack = [];

/** A record to be read; with a room, it is a pack. */
interface WantedRecord {
  readonly key: StoreKey;
  readonly roomId?: RoomID;
}

/** Reads and writes packs: lists of events; and reads single pieces of state. */
export class RoomPacks {
  readonly #writer: StoreWriter;
  /** The records that were read last, as they are in the store, and those that are not there. */
  readonly #known = new RecentMap<string, { readonly value: unknown }>(REMEMBERED);

  /** @param writer Reads. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** Reads single pieces, each from its record, or else from the pack that has its type. */
  async pieces(queries: readonly StateQuery[]): Promise<(StoredState | undefined)[]> {
    const { keys } = this.#writer;
    const wanted: WantedRecord[] = [];
    for (const { roomId, type, stateKey } of queries) {
      wanted.push({ key: keys.state(roomId, type, stateKey) });
      wanted.push({ key: keys.statePack(roomId, partOf(type)), roomId });
    }
    const values = await this.#read(wanted);
    return queries.map(({ type, stateKey }, index) => {
      const record = values[2 * index] as StoredState | undefined;
      return record ?? (values[2 * index + 1] as Pack | undefined)?.findLast(isPiece(type, stateKey));
    });
  }

  /** Records, of which those are read that are not known. Those with a room are packs. */
  async #read(wanted: readonly WantedRecord[]): Promise<unknown[]> {
    const values: unknown[] = [];
    const missing = new Map<string, WantedRecord & { readonly places: number[] }>();
    for (const each of wanted) {
      const name = nameOf(each.key);
      const known = this.#known.get(name);
      if (known === undefined) {
        missing.getOrInsertComputed(name, () => ({ ...each, places: [] })).places.push(values.length);
      }
      values.push(known?.value);
    }
    if (missing.size === 0) return values;
    const read = await this.#writer.getMany([...missing.values()].map(({ key }) => key));
    for (const [index, [name, { roomId, places }]] of [...missing].entries()) {
      const value = roomId && read[index] ? unpacked(read[index], roomId) : read[index];
      this.#known.set(name, { value }, EACH + sizeOf(value));
      for (const place of places) values[place] = value;
    }
    return values;
  }

  /** Reads what the packs of a room have of a type, or of the same part; without a type, all. */
  async get(roomId: RoomID, type?: string): Promise<Pack> {
    const parts = type === undefined ? PARTS : [partOf(type)];
    const packs = await this.#read(
      parts.map((part) => ({ key: this.#writer.keys.statePack(roomId, part), roomId })),
    );
    return packs.flatMap((pack) => (pack ?? NONE) as Pack);
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
    if (this.#known.size === 0) return; // in a first sync
    for (const { key } of mutations) this.#known.remove(nameOf(key));
  }

  #change(roomId: RoomID, part: Part, pack: Pack, parts: Parts): StoreMutation {
    const key = this.#writer.keys.statePack(roomId, part);
    if (pack.length === 0) return { type: "delete", key };
    return this.#writer.divisible(set(key, packed(pack, roomId)), parts);
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
  const weighed = lastOfEach(events, 0).map((event) => ({ event, size: sizeOf(event) }));
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

/**
 * Of each piece of state that changes the last event: what was replaced may be redacted, and is not stored.
 *
 * @param begin Where the changes begin. Default: where the timeline does; what a server lists twice in front
 *   of it stays then, and the last counts.
 */
export function lastOfEach(
  events: readonly StoredState[],
  begin: number = events.findIndex(isChange),
): readonly StoredState[] {
  if (begin < 0) return events;
  const changes = new Map<string, Map<string, StoredState>>();
  for (let at = begin; at < events.length; at++) {
    const event = events[at] as StoredState; // the index says that there is one
    changes.getOrInsertComputed(event.type, () => new Map()).set(event.state_key, event);
  }
  return events.filter((event) => {
    const last = changes.get(event.type)?.get(event.state_key);
    return last === undefined || last === event;
  });
}

function isChange({ source }: StoredState): boolean {
  return (source & SyncStream.TIMELINE) !== 0;
}

function isPiece(type: string, stateKey: string): (event: StoredState) => boolean {
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
