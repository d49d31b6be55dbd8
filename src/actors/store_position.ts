/**
 * The position in the sync stream, as the Store actor keeps it.
 *
 * @module
 */

import type { SyncRecord } from "../store/records.ts";
import type { FilterID, SyncToken } from "../types/ids.ts";
import type { SyncChange } from "./store_protocol.ts";
import { set, type StoreWriter } from "./store_writer.ts";

/** Keeps the position: what was committed, and what was handled. */
export class StorePosition {
  readonly #writer: StoreWriter;
  /** As it will be when all is committed that is about to be. */
  #position: SyncRecord | undefined;
  /** Tokens that were committed and not handled yet, from old to new. */
  readonly #unhandled = new Set<SyncToken>();
  /** How often this life has counted the ones before that ended. */
  #counted = 0;

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
    const before = this.#position ?? await this.get();
    this.#counted = 0;
    this.#set({ ...withoutStart(before), handled: token });
    if (before.first !== undefined) await this.#writer.flush();
    return true;
  }

  /**
   * Moves to the end of a sync response, whose changes are about to be committed.
   *
   * @param hasChanges Whether there are any.
   * @returns How many processes in a row have ended before what the response tells once more was handled; undefined: it is a wait
   *   that has brought nothing, which needs no commit.
   */
  async advance(
    { nextBatch, repeated }: Pick<SyncChange, "nextBatch" | "repeated">,
    hasChanges: boolean,
  ): Promise<number | undefined> {
    const before = this.#position ?? await this.get();
    const isNews = nextBatch !== before.nextBatch || hasChanges || repeated || this.#writer.owes;
    if (!isNews && before.handled !== undefined) return undefined;
    const first = before.handled === undefined && { first: before.first ?? nextBatch };
    const crashes = (before.crashes ?? 0) + (repeated ? 1 : 0);
    if (repeated) this.#counted++;
    this.#set({ ...before, nextBatch, ...first, ...(crashes > 0 && { crashes }) });
    this.#unhandled.add(nextBatch);
    return repeated ? crashes : 0; // what is new is delivered as ever, however long the mark waits
  }

  /** Takes back that this life will have ended before what is on its way is handled, since it ends by itself; with the next commit. */
  ending(): void {
    const { crashes = 0, ...rest } = this.#position ?? {};
    if (this.#counted === 0 || crashes === 0) return;
    const left = Math.max(0, crashes - this.#counted);
    this.#counted = 0;
    this.#set({ ...rest, ...(left > 0 && { crashes: left }) });
  }

  async #save(position: SyncRecord): Promise<void> {
    this.#set(position);
    await this.#writer.flush();
  }

  /** The next commit has it written, in the place of what waits there already. */
  #set(position: SyncRecord): void {
    this.#position = position;
    this.#writer.defer(set(this.#writer.keys.sync(), position));
  }
}

/** A position without what is only known as long as nothing has been handled since the start, or the last crash. */
function withoutStart({ nextBatch, handled, filter }: SyncRecord): SyncRecord {
  return { nextBatch, handled, ...(filter && { filter }) };
}
