/**
 * The Store's record of the position in the sync stream, and the commits of sync responses that move it.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { StoreKey, StoreMutation } from "../../store/base/mod.ts";
import type { MovedRoom, SyncRecord } from "../../store/device/mod.ts";
import type { FilterID, RoomID, SyncToken } from "../../types/ids.ts";
import type { KeptResponses } from "./kept_responses.ts";
import type { ShownLog, ShownRoom } from "./shown_events.ts";
import type { CommittedSync, RoomChange, SyncChange } from "./store_protocol.ts";
import { set, type StoreWriter } from "./writer.ts";
import { StoreError } from "../../errors/store_error.ts";
import { type Later, later } from "../kernel/mod.ts";
import type { RoomMutations, StoreRooms } from "./rooms.ts";

/** How many rooms are remembered that became encrypted, or were entered or left, in what was not handled. */
const MAX_CHANGED = 100;

/** Stores the position: up to where responses were committed, and up to where they were handled. */
export class StorePosition {
  readonly #writer: StoreWriter;
  /** Where the position is stored: made once, since every response writes it. */
  #key: StoreKey | undefined;
  /** The position as of the next commit. */
  #position: SyncRecord | undefined;
  /**
   * Tokens that were committed and not handled yet, from old to new, with the events that were
   * shown up to each.
   */
  readonly #unhandled = new Map<SyncToken, readonly ShownRoom[]>();
  /** What the user was to rooms before what earlier processes left unhandled, and this did not receive. */
  readonly #cutOff = new Map<RoomID, MovedRoom[1]>();
  /** Whether the count of processes that have ended has been raised by this one. */
  #hasCounted = false;

  readonly #shown: ShownLog;
  readonly #kept: KeptResponses;
  readonly #clock: Clock;

  /**
   * @param writer Reads and writes.
   * @param records Store which events have been handled, and responses that have not been.
   * @param clock Says when the application has moved it.
   */
  constructor(
    writer: StoreWriter,
    { shown, kept }: { readonly shown: ShownLog; readonly kept: KeptResponses },
    clock: Clock,
  ) {
    [this.#writer, this.#shown, this.#kept, this.#clock] = [writer, shown, kept, clock];
  }

  /** The position as it is. */
  async get(): Promise<SyncRecord> {
    if (this.#position !== undefined) return this.#position;
    const position = begun(await this.#writer.get<SyncRecord>(this.#writer.keys.sync()) ?? {});
    await this.#shown.load(position.shown);
    const known = await this.#withKept(position);
    if (this.#position !== undefined) return this.#position;
    for (const [roomId, was] of known.moved?.toReversed() ?? []) this.#cutOff.set(roomId, was);
    return this.#position = known;
  }

  /** What the user was to rooms before what a crash has cut off; null: nothing was known of it. */
  async cutOff(): Promise<ReadonlyMap<RoomID, MovedRoom[1]>> {
    await this.get();
    return this.#cutOff;
  }

  /**
   * A process that was killed before its first response was committed, or while it synced anew,
   * takes up first what it had received.
   */
  async #withKept(position: SyncRecord): Promise<SyncRecord> {
    const { nextBatch, anew, ...rest } = position;
    const end = nextBatch === undefined ? await this.#kept.end() : undefined;
    if (end === undefined) return position;
    return anew === undefined ? { ...rest, first: end } : { ...rest, nextBatch: end };
  }

  /** Moves to another position. */
  async move(nextBatch: SyncToken | undefined): Promise<void> {
    this.#cutOff.clear();
    this.#unhandled.clear(); // responses on their way belong to the old position, and events may come again
    const { nextBatch: until, filter } = await this.get();
    const mutations: StoreMutation[] = [];
    await this.#shown.clear(mutations);
    await this.#kept.clear(mutations);
    this.#set({
      nextBatch,
      handled: nextBatch,
      again: { ...(until !== undefined && { until }), from: this.#clock.now(), moved: true },
      ...(filter && { filter }),
    });
    await this.#writer.flush(mutations);
  }

  /** Lets the next response begin at the start: what has been handled, or is being handled, is remembered. */
  async syncAnew(): Promise<void> {
    const { nextBatch: _, first: __, again: ___, ahead: ____, ...rest } = await this.get();
    await this.#save({ ...rest, anew: {} });
  }

  /**
   * Notes, with the next commit, that encryption has received the next response: what it changes
   * may become durable before the response does.
   */
  async receivesAhead(): Promise<void> {
    const before = await this.get();
    if (before.ahead === undefined) this.#set({ ...before, ahead: true });
  }

  /** Stores the ID of an uploaded filter. */
  async saveFilter(filter: { readonly id: FilterID; readonly definition: string }): Promise<void> {
    await this.#save({ ...await this.get(), filter });
  }

  /**
   * Records that everything up to a token has been handled. That is written with the next commit:
   * if the process is killed before, a few events come again. For the very first response they
   * would be many, so it is written immediately.
   *
   * @returns Whether the token was not handled before.
   */
  async handled(token: SyncToken): Promise<boolean> {
    if (!this.#unhandled.has(token)) return false;
    const before = this.#position ?? await this.get();
    await this.#shown.makeRoom();
    const rooms: ShownRoom[] = [];
    let isOver = false;
    for (const [older, shown] of this.#unhandled) {
      for (const room of shown) rooms.push(room);
      this.#unhandled.delete(older);
      if (this.#kept.oldest < Infinity) this.#kept.handled(older);
      isOver ||= older === before.anew?.end;
      if (older === token) break;
    }
    // The first response and crashes tell of the start alone.
    const { anew, began, moved: all, first: _, crashes: __, ...rest } = before;
    const isAllHandled = this.#unhandled.size === 0 && before.again === undefined;
    const moved = all?.filter(([, , nextBatch]) => before.again || this.#unhandled.has(nextBatch)) ?? [];
    this.#set({
      ...rest,
      ...(anew && !isOver && { anew }),
      ...(began && !isAllHandled && { began }),
      ...(moved.length > 0 && { moved }),
      handled: token,
      ...this.#shownWith(rooms),
    });
    if (before.first !== undefined) await this.#writer.flush();
    return true;
  }

  /**
   * Moves to the end of a sync response, whose changes are about to be committed.
   *
   * @param changes What it changes of rooms.
   * @returns How many processes in a row have ended before the response that this one repeats was
   *   handled; undefined: the response has nothing new, and needs no commit.
   */
  async advance(
    { nextBatch, repeated, again, anew = false, rooms, atOnce = false }: SyncChange,
    { mutations, began, former }: Pick<RoomMutations, "mutations" | "began" | "former">,
  ): Promise<number | undefined> {
    const before = this.#position ?? await this.get();
    if (atOnce) {
      if (this.#kept.oldest < Infinity) this.#kept.handled(nextBatch);
      await this.#shown.makeRoom();
    }
    for (const { roomId } of this.#cutOff.size === 0 ? [] : rooms) this.#cutOff.delete(roomId);
    const isNews = nextBatch !== before.nextBatch || mutations.length > 0 || repeated || this.#writer.owes ||
      before.ahead === true;
    if (!isNews && before.handled !== undefined) return undefined;
    const first = before.handled === undefined && { first: before.first ?? nextBatch };
    const crashes = (before.crashes ?? 0) + (repeated && !this.#hasCounted ? 1 : 0);
    this.#hasCounted ||= repeated;
    const moved = before.handled === undefined || atOnce ? [] : movedIn(rooms, former, nextBatch);
    const { again: _, ahead: __, ...rest } = before;
    this.#set({
      ...rest,
      nextBatch,
      ...(before.anew === undefined && first),
      ...(anew && { anew: { end: nextBatch } }),
      ...(again && { again }),
      ...(crashes > 0 && { crashes }),
      ...(moved.length > 0 && { moved: [...before.moved ?? [], ...moved].slice(-MAX_CHANGED) }),
      ...(began.length > 0 && { began: [...before.began ?? [], ...began].slice(-MAX_CHANGED) }),
      ...(atOnce && this.#shownWith(rooms.filter(isShown))),
    });
    const earlier = this.#unhandled.get(nextBatch) ?? []; // of a response that ended with the same token
    this.#unhandled.set(nextBatch, atOnce ? earlier : [...earlier, ...rooms.filter(isShown)]);
    return repeated ? crashes : 0; // a new response is delivered as usual, however long its checkpoint takes
  }

  /** Takes back, with the next commit, the crash that this process has counted, since it ends by itself. */
  ending(): void {
    const { crashes = 0, ...rest } = this.#position ?? {};
    if (!this.#hasCounted || crashes === 0) return;
    const left = crashes - 1;
    this.#hasCounted = false;
    this.#set({ ...rest, ...(left > 0 && { crashes: left }) });
  }

  #shownWith(rooms: readonly ShownRoom[]): Pick<SyncRecord, "shown"> | undefined {
    return rooms.length === 0 ? undefined : { shown: this.#shown.note(rooms) };
  }

  async #save(position: SyncRecord): Promise<void> {
    this.#set(position);
    await this.#writer.flush();
  }

  /** Stores the position with the next commit. */
  #set(position: SyncRecord): void {
    this.#position = position;
    this.#key ??= this.#writer.keys.sync();
    this.#writer.defer(set(this.#key, position));
  }
}

/** Where a process has handled nothing, the next one begins as at first, though its token was refused. */
function begun(position: SyncRecord): SyncRecord {
  const { anew, ...rest } = position;
  if (anew === undefined || position.handled !== undefined || position.shown !== undefined) return position;
  return { ...rest, ...(anew.end !== undefined && { first: anew.end }) };
}

/** The rooms whose membership changes with a response. */
function movedIn(
  rooms: readonly RoomChange[],
  former: RoomMutations["former"],
  nextBatch: SyncToken,
): readonly MovedRoom[] {
  const moved: MovedRoom[] = [];
  for (const [index, { roomId, membership }] of rooms.entries()) {
    const before = former[index]?.membership ?? null;
    if (before !== membership) moved.push([roomId, before, nextBatch]);
  }
  return moved;
}

/** Whether a change shows events of its room. */
function isShown(change: RoomChange): change is RoomChange & ShownRoom {
  return change.shown !== undefined;
}

/** Commits sync responses: those that come while a commit is on its way go into the next one. */
export class StoreSync {
  readonly #writer: StoreWriter;
  readonly #position: StorePosition;
  readonly #rooms: StoreRooms;
  /** The token of the last response that could not be committed. */
  #refused: SyncToken | undefined;

  /**
   * @param writer Makes the commits.
   * @param position Stores the token.
   * @param rooms Store room state.
   */
  constructor(writer: StoreWriter, position: StorePosition, rooms: StoreRooms) {
    this.#writer = writer;
    this.#position = position;
    this.#rooms = rooms;
  }

  /**
   * Works out what a response changes, and commits it, together with other responses if that saves
   * a commit.
   */
  async commit(change: SyncChange): Promise<CommittedSync | Later<CommittedSync>> {
    const { nextBatch, after } = change;
    try {
      if (after !== undefined && after === this.#refused) {
        throw new StoreError(
          "Cannot keep a sync response: the one before it could not be kept; ask for both again",
        );
      }
      const { began } = await this.#position.get();
      const changes = await this.#rooms.changes(change, began);
      const crashes = await this.#position.advance(change, changes);
      if (this.#refused === nextBatch) this.#refused = undefined;
      if (crashes === undefined) return { former: changes.former, crashes: 0 };
      return later(this.#commit(changes, crashes));
    } catch (error) {
      this.#refused = nextBatch;
      throw error;
    }
  }

  async #commit(changes: RoomMutations, crashes: number): Promise<CommittedSync> {
    this.#rooms.committing(changes);
    await this.#writer.flush(changes.mutations);
    this.#rooms.committed(changes);
    return { former: changes.former, crashes };
  }
}
