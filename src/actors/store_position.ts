/**
 * The position in the sync stream, as the Store actor keeps it.
 *
 * @module
 */

import type { KvMutation } from "../store/kv_store.ts";
import type { SyncRecord } from "../store/records.ts";
import type { FilterID, SyncToken } from "../types/ids.ts";
import { set, type StoreWriter } from "./store_writer.ts";

/** Keeps the position: what was committed, and what was handled. */
export class StorePosition {
  readonly #writer: StoreWriter;
  #position: SyncRecord | undefined;
  /** Tokens that were committed and not handled yet, from old to new. */
  readonly #unhandled = new Set<SyncToken>();

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** The position as it is. */
  async get(): Promise<SyncRecord> {
    return this.#position ??= await this.#writer.get<SyncRecord>(this.#writer.keys.sync()) ?? {};
  }

  /** Moves to another position. */
  async move(nextBatch: SyncToken | undefined): Promise<void> {
    this.#unhandled.clear(); // what was on its way belongs to the position that is left
    await this.#save({ nextBatch, handled: nextBatch });
  }

  /** Remembers an uploaded filter. */
  async saveFilter(filter: { readonly id: FilterID; readonly definition: string }): Promise<void> {
    await this.#save({ filter });
  }

  /**
   * Notes that everything up to a token has been handled. That is written with the next commit: if the process is killed before,
   * a few events come again. Of the very first response that would be too many, so its end is written at once.
   */
  async handled(token: SyncToken): Promise<void> {
    if (!this.#unhandled.has(token)) return;
    for (const older of this.#unhandled) {
      this.#unhandled.delete(older);
      if (older === token) break;
    }
    const before = await this.get();
    if (before.first !== undefined) return await this.#save({ handled: token });
    this.#position = { ...before, handled: token };
    this.#writer.defer(set(this.#writer.keys.sync(), this.#position));
  }

  /** Commits changes of a sync response with the token that it ends with. */
  async advance(nextBatch: SyncToken, mutations: readonly KvMutation[]): Promise<void> {
    const before = await this.get();
    const first = before.handled === undefined && { first: before.first ?? nextBatch };
    const position = { ...before, nextBatch, ...first };
    await this.#writer.commit([...mutations, set(this.#writer.keys.sync(), position)]);
    this.#position = position;
    this.#unhandled.add(nextBatch);
  }

  async #save(change: Partial<SyncRecord>): Promise<void> {
    const { first, ...before } = await this.get();
    const isNew = first !== undefined && !("handled" in change);
    const position = { ...before, ...(isNew && { first }), ...change };
    await this.#writer.commit([set(this.#writer.keys.sync(), position)]);
    this.#position = position;
  }
}
