/**
 * Packs: most of a room's state in one record. A first sync brings the state of all rooms, and a
 * record for each event would take most of its time.
 *
 * @module
 */

import { WeighedCache } from "../../base/recent_map.ts";
import type { StoreKey, StoreMutation } from "../../store/base/mod.ts";
import type { StoredState } from "../../store/device/mod.ts";
import type { RoomID } from "../../types/ids.ts";
import { set, type StoreWriter } from "./writer.ts";

/** How many events are remembered: some 4 MB. */
const REMEMBERED = 4_000;

/** State in the order in which it took effect; an event may come after another in whose place it is. */
export type Pack = readonly StoredState[];

const NONE: Pack = [];

/** Reads and writes packs: lists of events. */
export class RoomPacks {
  readonly #writer: StoreWriter;
  /** Those that were used last, as they are with the changes under way; empty if a room has none. */
  readonly #packs = new WeighedCache<RoomID, Pack>(REMEMBERED);

  /** @param writer Reads. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** The packs of rooms, an empty one of a room that has none, and with the same read other records. */
  async read<Value>(
    roomIds: Iterable<RoomID>,
    others: readonly StoreKey[] = [],
  ): Promise<{ readonly packs: ReadonlyMap<RoomID, Pack>; readonly values: (Value | undefined)[] }> {
    const packs = new Map<RoomID, Pack>();
    const unknown: RoomID[] = [];
    for (const roomId of new Set(roomIds)) {
      const known = this.#packs.get(roomId);
      if (known === undefined) unknown.push(roomId);
      else packs.set(roomId, known);
    }
    const { keys } = this.#writer;
    const places = [...others, ...unknown.map((roomId) => keys.statePack(roomId))];
    const values = await this.#writer.getMany<Value | Pack>(places);
    for (const [index, roomId] of unknown.entries()) {
      const pack = values[others.length + index] as Pack | undefined ?? NONE; // as set() writes it
      this.#remember(roomId, pack);
      packs.set(roomId, pack);
    }
    return { packs, values: values.slice(0, others.length) as (Value | undefined)[] };
  }

  /** The pack of a room; empty if it has none. */
  async get(roomId: RoomID): Promise<Pack> {
    return (await this.read([roomId])).packs.get(roomId) ?? NONE;
  }

  /** Sets the pack of a room, or removes it if it is empty. */
  set(roomId: RoomID, pack: Pack, mutations: StoreMutation[]): void {
    const key = this.#writer.keys.statePack(roomId);
    mutations.push(pack.length === 0 ? { type: "delete", key } : set(key, pack));
    this.#remember(roomId, pack);
  }

  /** Takes events out of the pack of a room. */
  async remove(
    roomId: RoomID,
    isGone: (event: StoredState) => boolean,
    mutations: StoreMutation[],
  ): Promise<void> {
    const pack = await this.get(roomId);
    const left = pack.filter((event) => !isGone(event));
    if (left.length < pack.length) this.set(roomId, left, mutations);
  }

  #remember(roomId: RoomID, pack: Pack): void {
    this.#packs.set(roomId, pack, 1 + pack.length);
  }
}
