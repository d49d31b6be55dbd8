/**
 * The position in the sync stream, as the Store actor keeps it.
 *
 * @module
 */

import type { KvMutation } from "../../store/kv_store.ts";
import type { SyncRecord } from "../../store/device/records.ts";
import type { FilterID, SyncToken } from "../../types/ids.ts";
import type { ShownRoom } from "../syncer/shown_events.ts";
import type { RoomChange, SyncChange } from "./store_protocol.ts";
import type { StoreShown } from "./store_shown.ts";
import { set, type StoreWriter } from "./store_writer.ts";

/** Keeps the position: what was committed, and what was handled. */
export class StorePosition {
  readonly #writer: StoreWriter;
  /** As it will be when all is committed that is about to be. */
  #position: SyncRecord | undefined;
  /** Tokens that were committed and not handled yet, from old to new, with what the responses that end there have shown. */
  readonly #unhandled = new Map<SyncToken, readonly ShownRoom[]>();
  /** How often this life has counted the ones before that ended. */
  #counted = 0;

  readonly #shown: StoreShown;

  /**
   * @param writer Reads and writes.
   * @param shown Knows which events have been handled.
   */
  constructor(writer: StoreWriter, shown: StoreShown) {
    this.#writer = writer;
    this.#shown = shown;
  }

  /** The position as it is. */
  async get(): Promise<SyncRecord> {
    if (this.#position !== undefined) return this.#position;
    const position = await this.#writer.get<SyncRecord>(this.#writer.keys.sync()) ?? {};
    await this.#shown.load(position.shown);
    return this.#position ??= position;
  }

  /** Moves to another position. */
  async move(nextBatch: SyncToken | undefined): Promise<void> {
    this.#unhandled.clear(); // what was on its way belongs to the position that is left, and what was shown may come again
    const { shown: _, ...before } = withoutStart(await this.get());
    const mutations: KvMutation[] = [];
    await this.#shown.clear(mutations);
    this.#set({ ...before, nextBatch, handled: nextBatch });
    await this.#writer.flush(mutations);
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
    const before = this.#position ?? await this.get();
    const rooms: ShownRoom[] = [];
    for (const [older, shown] of this.#unhandled) {
      rooms.push(...shown);
      this.#unhandled.delete(older);
      if (older === token) break;
    }
    this.#counted = 0;
    this.#set({ ...withoutStart(before), handled: token, ...this.#noting(rooms) });
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
    { nextBatch, repeated, rooms, atOnce = false }: SyncChange,
    hasChanges: boolean,
  ): Promise<number | undefined> {
    const before = this.#position ?? await this.get();
    const isNews = nextBatch !== before.nextBatch || hasChanges || repeated || this.#writer.owes;
    if (!isNews && before.handled !== undefined) return undefined;
    const first = before.handled === undefined && { first: before.first ?? nextBatch };
    const crashes = (before.crashes ?? 0) + (repeated ? 1 : 0);
    if (repeated) this.#counted++;
    this.#set({
      ...before,
      nextBatch,
      ...first,
      ...(crashes > 0 && { crashes }),
      ...(atOnce && this.#noting(rooms.filter(isShown))),
    });
    this.#unhandled.set(nextBatch, atOnce ? [] : rooms.filter(isShown));
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

  #noting(rooms: readonly ShownRoom[]): Pick<SyncRecord, "shown"> | undefined {
    return rooms.length === 0 ? undefined : { shown: this.#shown.note(rooms) };
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
function withoutStart({ nextBatch, handled, filter, shown }: SyncRecord): SyncRecord {
  return { nextBatch, handled, ...(filter && { filter }), ...(shown && { shown }) };
}

/** Whether a change has shown events of its room. */
function isShown(change: RoomChange): change is RoomChange & ShownRoom {
  return change.shown !== undefined;
}
