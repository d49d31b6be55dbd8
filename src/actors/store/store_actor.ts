/**
 * The Store: the single writer of a device's records.
 *
 * Over 300 lines because each of its messages is a method with its documentation.
 *
 * @module
 */

import { Turns } from "../../base/runs.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import {
  MemoryStore,
  type Store,
  type StoreKey,
  type StoreListOptions,
  type StoreMutation,
} from "../../store/base/mod.ts";
import type { LeaseOptions, RoomRecord, StoredState, SyncRecord } from "../../store/device/mod.ts";
import type { Membership } from "../../types/enums.ts";
import type { FilterID, RoomID, SyncToken } from "../../types/ids.ts";
import { QuarantinedEvents, type QuarantineRecord } from "./quarantine.ts";
import { type Actor, type Later, later, spawn, type TurnContext } from "../kernel/mod.ts";
import { StoreAttempts, StoreDeliveries } from "./deliveries.ts";
import { MemoryRoomState, type RoomState, StoredRoomState } from "./room_state.ts";
import { StorePosition, StoreSync } from "./position.ts";
import { StoreRooms } from "./rooms.ts";
import { type KeptResponse, KeptResponses } from "./kept_responses.ts";
import { ShownLog } from "./shown_events.ts";
import { StoreKeeper } from "./store_keeper.ts";
import type {
  Attempt,
  Attempted,
  CommittedSync,
  KeptRecord,
  MembersChange,
  PruneStep,
  QuarantineTime,
  RememberedRoom,
  SessionCommit,
  StateChange,
  StateQuery,
  StateRead,
  SyncChange,
} from "./store_protocol.ts";
import { StoreWriter } from "./writer.ts";

/** What the Store is made of. */
export interface StoreOptions {
  /** The store. Absent: memory, for as long as the actor lives. */
  readonly kv?: Store;
  /** How the device is taken; absent: no other process can have it. */
  readonly lease?: Pick<LeaseOptions, "held" | "owner" | "duration" | "holding">;
  /** Measures the lease. Default: the machine's own. */
  readonly clock?: Clock;
  /** Logs failures. */
  readonly log?: Logger;
}

/** Starts the Store. */
export function spawnStore({ kv, lease, clock = systemClock, log }: StoreOptions): Actor<StoreHandlers> {
  const leased = lease && { ...lease, clock, log };
  const writer = new StoreWriter(kv ?? new MemoryStore(), leased, log);
  const state = kv === undefined ? new MemoryRoomState() : new StoredRoomState(writer);
  const keeper = new StoreKeeper(writer, clock);
  const handlers = new StoreHandlers(writer, state, keeper, clock);
  return keeper.store = spawn({ name: "store", handlers, log }); // which asks it in turn
}

type Turn<Reply> = Reply | Promise<Reply>;

/** What the Store can be asked: it alone reads and writes a device's records. A failed commit is fatal. */
export class StoreHandlers implements AsyncDisposable {
  readonly #writer: StoreWriter;
  readonly #keeper: StoreKeeper;
  readonly #position: StorePosition;
  readonly #kept: KeptResponses;
  readonly #rooms: StoreRooms;
  readonly #sync: StoreSync;
  readonly #quarantine: QuarantinedEvents;
  readonly #deliveries: StoreDeliveries;
  readonly #attempts: StoreAttempts;
  readonly #opening = new Turns();

  /**
   * @param writer Reads and writes records.
   * @param state The state of rooms.
   * @param keeper Writes what is left when nothing else does.
   * @param clock Says when.
   */
  constructor(writer: StoreWriter, state: RoomState, keeper: StoreKeeper, clock: Clock) {
    const shown = new ShownLog(writer);
    this.#writer = writer;
    this.#keeper = keeper;
    const kept = this.#kept = new KeptResponses(writer);
    this.#position = new StorePosition(writer, { shown, kept }, clock);
    this.#rooms = new StoreRooms(writer, state, clock, shown);
    this.#sync = new StoreSync(writer, this.#position, this.#rooms);
    this.#quarantine = new QuarantinedEvents(writer);
    this.#deliveries = new StoreDeliveries(writer, this.#quarantine, kept);
    this.#attempts = new StoreAttempts(writer);
  }

  /**
   * Opens the store for an account, before anything else. In a shared store this takes the device,
   * which lasts as long as another process holds it, or is fatal; and it upgrades the records of
   * older versions.
   */
  open(prefix: StoreKey, { stopping, signal = stopping }: TurnContext): Later<void> {
    // Another process may hold the device, and no turn waits for that. After a cancelled message, the
    // next one goes on.
    return later(this.#opening.take(() => this.#open(prefix, stopping, AbortSignal.any([stopping, signal]))));
  }

  /** The position in the sync stream. */
  position(): Turn<SyncRecord> {
    return this.#after(() => this.#position.get());
  }

  /** Moves the position, for `syncStore`. */
  move(nextBatch: SyncToken | undefined): Turn<void> {
    return this.#after(() => this.#position.move(nextBatch));
  }

  /** Lets the next response begin at the start, since the server does not know the token. */
  syncAnew(): Turn<void> {
    return this.#after(() => this.#position.syncAnew());
  }

  /** Keeps a response that the server does not give again, durably, until it has been handled. */
  keepResponse(response: KeptResponse): Turn<void> {
    return this.#after(() => this.#kept.keep(response));
  }

  /** The text of a kept response that answers a token, if there is one. */
  keptResponse({ since }: { readonly since: SyncToken | undefined }): Turn<string | undefined> {
    return this.#after(() => this.#kept.get(since));
  }

  /** Applies a sync response, its token with it, in one commit. */
  commitSync(change: SyncChange): Promise<CommittedSync | Later<CommittedSync>> {
    return this.#sync.commit(change);
  }

  /**
   * Records that everything up to a token has been handled; no effect if the position was moved
   * since. It is durable with the next commit, at the latest with `flush`, which comes by itself.
   */
  async handled(token: SyncToken): Promise<void> {
    if (!await this.#position.handled(token)) return;
    await this.#deliveries.checkpointed();
    await this.#attempts.checkpointed();
  }

  /** The names of deliveries that have settled, of responses that were not handled as a whole. */
  settled(): Turn<string[]> {
    return this.#after(() => this.#deliveries.settled());
  }

  /**
   * Records deliveries that have settled. Durable with the next commit, at the latest with `flush`.
   */
  noteSettled(names: readonly string[]): Turn<void> {
    return this.#deliveries.noteSettled(names);
  }

  /** Changes sessions of handlers and records deliveries that have settled, in one commit. */
  commitSessions(change: SessionCommit): Turn<void> {
    return this.#after(() => this.#deliveries.commitSessions(change));
  }

  /** Records durably that a delivery is about to begin. */
  attempt(attempt: Attempt): Turn<Attempted> {
    return this.#after(async () => {
      const attempted = await this.#attempts.begin(attempt);
      return await this.#quarantine.has(attempt.id) ? { ...attempted, verdict: "out" } : attempted;
    });
  }

  /** Records durably that the process still lives long after a delivery has begun. */
  outlived(id: string): Turn<void> {
    return this.#after(() => this.#attempts.outlived(id));
  }

  /** Records durably that deliveries have ended. */
  ended(ids: readonly string[]): Turn<void> {
    return this.#after(() => this.#attempts.ended(ids));
  }

  /**
   * Records durably that the process is about to end by itself, so that no delivery is blamed; or
   * that it goes on.
   */
  ending({ isEnding }: { readonly isEnding: boolean }): Turn<void> {
    return this.#after(async () => {
      const changes = await this.#attempts.ending(isEnding);
      if (!isEnding) return;
      this.#position.ending();
      await this.#writer.flush([...changes, ...this.#quarantine.ending()]);
    });
  }

  /**
   * Stores an event that is left out.
   *
   * @returns What had to be dropped for it.
   */
  quarantine(record: QuarantineRecord): Turn<QuarantineRecord[]> {
    return this.#after(async () => {
      const settled = await this.#deliveries.settled();
      return await this.#quarantine.add(record, settled, await this.#attempts.leavingOut(record.id));
    });
  }

  /** The events that are left out, the oldest first. */
  quarantined(): Turn<QuarantineRecord[]> {
    return this.#after(() => this.#quarantine.list());
  }

  /** Records durably that one is about to be tried again. Undefined: it is gone. */
  retryQuarantined({ id, at }: QuarantineTime): Turn<QuarantineRecord | undefined> {
    return this.#after(() => this.#quarantine.retry(id, at));
  }

  /** Records durably that one is not being tried, and waits from a time on. */
  waitQuarantined({ id, at }: QuarantineTime): Turn<void> {
    return this.#after(() => this.#quarantine.wait(id, at));
  }

  /**
   * Removes one, and records which of its deliveries have settled.
   *
   * @returns Whether it was there.
   */
  release({ id, settled }: { readonly id: string; readonly settled: readonly string[] }): Turn<boolean> {
    return this.#after(async () =>
      await this.#quarantine.release(id, await this.#deliveries.recording(settled))
    );
  }

  /** Makes all changes durable. */
  flush(): Turn<void> {
    return this.#after(() => this.#writer.flush());
  }

  /** Stores the ID of an uploaded filter. */
  saveFilter(filter: { readonly id: FilterID; readonly definition: string }): Turn<void> {
    return this.#after(() => this.#position.saveFilter(filter));
  }

  /** One piece of a room's state. */
  getState(query: StateQuery): Turn<StoredState | undefined> {
    return this.#after(() => this.#rooms.getState(query));
  }

  /** A room's state, all of it or all of a type. */
  listState({ roomId, type }: { readonly roomId: RoomID; readonly type?: string }): Turn<StoredState[]> {
    return this.#after(() => this.#rooms.listState(roomId, type));
  }

  /** Applies state that did not come with sync: sent by the client, or read from the server. */
  putState(change: StateChange): Turn<void> {
    return this.#after(() => this.#rooms.putState(change));
  }

  /** Applies a content of state, unless the whole event that has it is known. */
  putContent({ event, read }: { readonly event: StoredState; readonly read?: number }): Turn<void> {
    return this.#after(() => this.#rooms.putContent(event, read));
  }

  /** Replaces the members of a room, those of one membership or all. */
  replaceMembers(change: MembersChange): Turn<void> {
    return this.#after(() => this.#rooms.replaceMembers(change));
  }

  /** Notes from now on what syncs change of a room: it is newer than what a request is answered. */
  beginRead(read: StateRead): void {
    this.#rooms.reads.begin(read);
  }

  /** Forgets a request that has ended. */
  endRead({ read }: Pick<StateRead, "read">): void {
    this.#rooms.reads.end(read);
  }

  /** Returns what is known of a room beside its state. */
  room(roomId: RoomID): Turn<RoomRecord | undefined> {
    return this.#after(() => this.#rooms.room(roomId));
  }

  /** Returns what is to be remembered of rooms, in the order of the rooms. */
  async remembered(roomIds: readonly RoomID[]): Promise<RememberedRoom[]> {
    await this.#position.get(); // which loads what was shown
    return await this.#rooms.remembered(roomIds);
  }

  /** Every room that is known. */
  rooms(): Turn<RoomRecord[]> {
    return this.#after(() => this.#rooms.rooms());
  }

  /** What the user was to the rooms that are known, before what a crash has cut off. */
  handledMemberships(): Turn<Map<RoomID, Membership>> {
    return this.#after(async () => {
      const cutOff = await this.#position.cutOff();
      const rooms = await this.#rooms.rooms();
      return new Map(
        rooms.filter(({ roomId }) => cutOff.get(roomId) !== null)
          .map(({ roomId, membership }) => [roomId, cutOff.get(roomId) ?? membership]),
      );
    });
  }

  /**
   * Removes state of rooms that were left before a time, in milliseconds since the epoch; their
   * records stay. Each call removes a limited number, so that others need not wait long: call it
   * until it is done, each time with the `after` of the call before.
   */
  pruneRooms(
    { leftBefore, after }: { readonly leftBefore: number; readonly after?: RoomID },
  ): Turn<PruneStep> {
    return this.#after(() => this.#rooms.prune(leftBefore, after));
  }

  /** Records that the server says a room has no encryption. Encryption that was seen stays. */
  noEncryption(roomId: RoomID): Turn<void> {
    return this.#after(() => this.#rooms.noEncryption(roomId));
  }

  /**
   * Takes the device, if it was handed back. Answers whether what the actors know of its records
   * holds: if another process has had it, they are of no use any more.
   */
  take(): Turn<boolean> {
    return this.#after(async () => {
      const isSame = await this.#writer.take();
      if (isSame) this.#keeper.taken();
      return isSame;
    });
  }

  /**
   * Commits deferred changes and hands the device back, so that another process can take it.
   * Answers whether it did: not if `hears`, and another has come for it since it was taken.
   */
  handBack({ hears }: { readonly hears: boolean }): Turn<boolean> {
    return this.#after(async () => {
      const isBack = await this.#writer.handBack(hears);
      if (isBack) this.#keeper.handedBack();
      return isBack;
    });
  }

  /**
   * Reads records of another actor's; `undefined` where there is none. Keys are relative to the
   * account's.
   */
  readRecords(keys: readonly StoreKey[]): Later<unknown[]> {
    return later(this.#writer.getMany(keys.map((key) => this.#writer.keys.record(key))));
  }

  /** Reads another actor's records below a prefix, in order: all, or those of a page. */
  listRecords({ prefix, ...options }: StoreListOptions & { readonly prefix: StoreKey }): Later<KeptRecord[]> {
    return later(this.#writer.listRecords(prefix, options));
  }

  /** Changes records of another actor's, in one commit, maybe with others. Reads see them immediately. */
  commitRecords(mutations: readonly StoreMutation[]): Later<void> {
    return later(this.#writer.share(this.#records(mutations)));
  }

  /**
   * Changes them with the next commit: at the latest with the sync response that they belong to.
   * Reads see them immediately.
   */
  async deferRecords(mutations: readonly StoreMutation[]): Promise<void> {
    await this.#position.receivesAhead();
    this.#writer.owe(this.#records(mutations));
  }

  /** Releases the device, and closes the store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keeper.ended;
    await this.#writer.close();
  }

  async #open(prefix: StoreKey, stopping: AbortSignal, signal: AbortSignal): Promise<void> {
    const held = await this.#writer.open(prefix, signal);
    if (held !== undefined) this.#keeper.begin(stopping);
  }

  /** Begins work when all earlier changes are durable. Sync responses need not wait for one another. */
  #after<Reply>(work: () => Turn<Reply>): Turn<Reply> {
    return this.#writer.settled?.then(work) ?? work();
  }

  #records(mutations: readonly StoreMutation[]): StoreMutation[] {
    return mutations.map((each) => ({ ...each, key: this.#writer.keys.record(each.key) }));
  }
}
