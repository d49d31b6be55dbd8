/**
 * The records of rooms, as the Store actor remembers them.
 *
 * @module
 */

import { WeighedCache } from "../../base/weighed_cache.ts";
import type { RoomRecord } from "../../store/device/records.ts";
import type { RoomID } from "../../types/ids.ts";
import type { StoreWriter } from "./store_writer.ts";

/** How many are remembered: those of the rooms that were asked for lately. Each takes some 220 bytes, so all of them 4 MB. */
const REMEMBERED = 20_000;

/**
 * Remembers the records of rooms, so that a sync response costs no look at the store for each room that it tells of: nobody else
 * writes them as long as the device is ours.
 */
export class StoreRoomRecords {
  readonly #writer: StoreWriter;
  readonly #known = new WeighedCache<RoomID, RoomRecord>(REMEMBERED);

  /** @param writer Reads what is not remembered. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** The record of a room. */
  async get(roomId: RoomID): Promise<RoomRecord | undefined> {
    return this.#known.get(roomId) ?? (await this.#read([roomId])).get(roomId);
  }

  /** The records of rooms; those that are not there have none. */
  async getMany(roomIds: readonly RoomID[]): Promise<Map<RoomID, RoomRecord>> {
    const found = new Map<RoomID, RoomRecord>();
    const others: RoomID[] = [];
    for (const roomId of roomIds) {
      const record = this.#known.get(roomId);
      if (record === undefined) others.push(roomId);
      else found.set(roomId, record);
    }
    if (others.length > 0) {
      for (const [roomId, record] of await this.#read(others)) found.set(roomId, record);
    }
    return found;
  }

  /** Takes note of what has been committed. */
  note(record: RoomRecord): void {
    this.#known.set(record.roomId, record, 1);
  }

  async #read(roomIds: readonly RoomID[]): Promise<Map<RoomID, RoomRecord>> {
    const { keys } = this.#writer;
    const records = await this.#writer.getMany<RoomRecord>(roomIds.map((roomId) => keys.room(roomId)));
    const found = new Map<RoomID, RoomRecord>();
    for (const [index, roomId] of roomIds.entries()) {
      const record = records[index];
      if (record === undefined) continue;
      found.set(roomId, record);
      this.note(record);
    }
    return found;
  }
}
