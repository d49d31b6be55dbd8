/**
 * Packs: most of a room's state in two records. A first sync brings the state of all rooms, and a
 * record for each event would take most of its time.
 *
 * @module
 */

import { WeighedCache } from "../../base/recent_map.ts";
import type { StoreKey, StoreMutation } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { RoomID } from "../../types/ids.ts";
import type { StateQuery } from "./store_protocol.ts";
import type { Parts } from "./acceptable_changes.ts";
import { set, type StoreWriter } from "./writer.ts";

/** How large a pack may be, in characters: all of it is read for one piece of state. */
const MAX_SIZE = 200_000;
/** What is nested deeper counts as so large: stores take more time for it. */
const MAX_DEPTH = 32;
/** The size of all packs that are remembered, in characters. */
const REMEMBERED = 4_000_000;
/** What a pack counts for there beside its events. */
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

/** Reads and writes packs: lists of events. */
export class RoomPacks {
  readonly #writer: StoreWriter;
  /** Those that were read last, as they are in the store; empty if a room has none. */
  readonly #packs = new WeighedCache<string, Pack>(REMEMBERED);

  /** @param writer Reads. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /**
   * Reads packs, and with the same read other records.
   *
   * @param types Rooms and types of state.
   * @returns In the place of each type the pack that has it; empty where there is none.
   */
  async read<Value>(
    types: readonly Pick<StateQuery, "roomId" | "type">[],
    others: readonly StoreKey[] = [],
  ): Promise<{ readonly packs: readonly Pack[]; readonly values: (Value | undefined)[] }> {
    const names: string[] = [];
    const found = new Map<string, Pack | undefined>();
    const places = [...others];
    for (const { roomId, type } of types) {
      const key = this.#writer.keys.statePack(roomId, partOf(type));
      const name = nameOf(key);
      names.push(name);
      if (found.has(name)) continue;
      const known = this.#packs.get(name);
      if (known === undefined) places.push(key);
      found.set(name, known);
    }
    const values = await this.#writer.getMany<Value | Pack>(places);
    let next = others.length;
    for (const [name, known] of found) {
      if (known !== undefined) continue;
      const pack = values[next++] as Pack | undefined ?? NONE; // as #change() writes it
      this.#packs.set(name, pack, EACH + sizeOf(pack));
      found.set(name, pack);
    }
    return {
      packs: names.map((name) => found.get(name) ?? NONE),
      values: values.slice(0, others.length) as (Value | undefined)[],
    };
  }

  /** What the packs of a room have of a type, or of the same part; without a type, all. */
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

  /** Forgets packs that a commit has changed: the store may have refused one of them. */
  committed(mutations: readonly StoreMutation[]): void {
    for (const { key } of mutations) this.#packs.delete(nameOf(key));
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

/** Names a pack by the parts of its key: the part, and the room. */
function nameOf(key: StoreKey): string {
  return `${key.at(-1)} ${key.at(-2)}`;
}
