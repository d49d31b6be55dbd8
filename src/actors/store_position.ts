/**
 * The position in the sync stream, as the Store actor keeps it.
 *
 * @module
 */

import type { KvMutation } from "../store/kv_store.ts";
import type { SyncRecord } from "../store/records.ts";
import type { FilterID, SyncToken } from "../types/ids.ts";
import type { SyncChange } from "./store_protocol.ts";
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
    await this.#save({ ...withoutStart(await this.get()), nextBatch, handled: nextBatch });
  }

  /** Remembers an uploaded filter. */
  async saveFilter(filter: { readonly id: FilterID; readonly definition: string }): Promise<void> {
    await this.#save({ ...await this.get(), filter });
  }

  /**
   * Notes that everything up to a token has been handled. That is written with the next commit: if the process is killed before,
   * a few events come again. Of the very first response that would be too many, so its end is written at once.
   *
   * @returns Whether that is news.
   */
  async handled(token: SyncToken): Promise<boolean> {
    if (!this.#unhandled.has(token)) return false;
    for (const older of this.#unhandled) {
      this.#unhandled.delete(older);
      if (older === token) break;
    }
    const position = { ...withoutStart(await this.get()), handled: token };
    if ((await this.get()).first === undefined) {
      this.#position = position;
      this.#writer.defer(set(this.#writer.keys.sync(), position));
    } else await this.#save(position);
    return true;
  }

  /**
   * Commits changes of a sync response with the token that it ends with.
   *
   * @returns How many processes in a row have ended before what the response tells once more was handled.
   */
  async advance(
    { nextBatch, repeated }: Pick<SyncChange, "nextBatch" | "repeated">,
    mutations: readonly KvMutation[],
  ): Promise<number> {
    const before = await this.get();
    const isNews = nextBatch !== before.nextBatch || mutations.length > 0 || repeated || this.#writer.owes;
    if (!isNews && before.handled !== undefined) return 0; // a wait that has brought nothing
    const first = before.handled === undefined && { first: before.first ?? nextBatch };
    const crashes = (before.crashes ?? 0) + (repeated ? 1 : 0);
    const position = { ...before, nextBatch, ...first, ...(crashes > 0 && { crashes }) };
    this.#writer.defer(set(this.#writer.keys.sync(), position)); // in the place of what waits there already
    await this.#writer.flush(mutations);
    this.#position = position;
    this.#unhandled.add(nextBatch);
    return repeated ? crashes : 0; // what is new is delivered as ever, however long the mark waits
  }

  async #save(position: SyncRecord): Promise<void> {
    this.#writer.defer(set(this.#writer.keys.sync(), position));
    await this.#writer.flush();
    this.#position = position;
  }
}

/** A position without what is only known as long as nothing has been handled since the start, or the last crash. */
function withoutStart({ nextBatch, handled, filter }: SyncRecord): SyncRecord {
  return { nextBatch, handled, ...(filter && { filter }) };
}
