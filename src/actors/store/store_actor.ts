/**
 * The Store: the single writer of a device's records.
 *
 * @module
 */

import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { type KvKey, type KvMutation, type KvStore, MemoryStore } from "../../store/base/mod.ts";
import type { LeaseOptions } from "../../store/device/mod.ts";
import type { Actor, ActorRef } from "../kernel/actor.ts";
import { MemoryRoomState } from "./memory_room_state.ts";
import { StoredRoomState } from "./stored_room_state.ts";
import { type Later, later, spawn } from "../kernel/spawn.ts";
import { StoreAttempts, StoreDeliveries } from "./deliveries.ts";
import { StorePosition } from "./position.ts";
import type { CommittedSync, StoreProtocol, SyncChange } from "./store_protocol.ts";
import { QuarantinedEvents } from "./quarantined_events.ts";
import { ShownLog } from "./shown_log.ts";
import { type RoomMutations, StoreRooms } from "./rooms.ts";
import { StoreWriter } from "./writer.ts";
import { StoreError } from "../../errors/store_error.ts";
import type { SyncToken } from "../../types/ids.ts";

/** What the Store is made of. */
export interface StoreOptions {
  /** The store. Absent: memory, for as long as the actor lives. */
  readonly kv?: KvStore;
  /** How the device is taken; absent: no other process can have it. */
  readonly lease?: Pick<LeaseOptions, "held" | "owner" | "duration" | "holding">;
  /** Measures the lease. Default: the machine's own. */
  readonly clock?: Clock;
  /** Logs failures. */
  readonly log?: Logger;
}

/** How long a change may wait for a commit to go along with, in milliseconds. */
const MAX_DEFERRED = 5_000;

/** Starts the Store. */
export function spawnStore(
  { kv: given, lease, clock = systemClock, log }: StoreOptions,
): Actor<StoreProtocol> {
  const kv = given ?? new MemoryStore();
  const writer = new StoreWriter({ kv, lease: lease && { ...lease, clock, log }, log });
  const state = given === undefined ? new MemoryRoomState() : new StoredRoomState(writer);
  const shown = new ShownLog(writer);
  const position = new StorePosition(writer, shown, clock);
  const rooms = new StoreRooms(writer, state, clock, shown);
  const sync = new StoreSync(writer, position, rooms);
  const quarantine = new QuarantinedEvents(writer);
  const deliveries = new StoreDeliveries(writer, quarantine);
  const attempts = new StoreAttempts(writer);
  const records = (mutations: readonly KvMutation[]): KvMutation[] =>
    mutations.map((each) => ({ ...each, key: writer.keys.record(each.key) }));
  /**
   * Begins work when all earlier changes are durable. Sync responses need not wait for one another.
   */
  const settled =
    <Body, Reply>(work: (body: Body) => Reply | Promise<Reply>) => (body: Body): Reply | Promise<Reply> =>
      writer.settled?.then(() => work(body)) ?? work(body);
  let opening: Promise<void> = Promise.resolve();
  let keeping: Promise<void> | undefined;
  const open = async (prefix: KvKey, stopping: AbortSignal, signal: AbortSignal): Promise<void> => {
    const held = await writer.open(prefix, signal);
    if (held !== undefined) keeping ??= keep(store, { writer, clock, stopping });
  };
  const store = spawn<StoreProtocol>({
    name: "store",
    log,
    handlers: {
      // Another process may hold the device, and no turn waits for that. After a cancelled ask, the
      // next one goes on.
      open: (prefix, { stopping, signal = stopping }) => {
        const go = () => open(prefix, stopping, AbortSignal.any([stopping, signal]));
        opening = opening.then(go, go);
        return later(opening);
      },
      commitSync: (change) => sync.commit(change),
      async handled(token) {
        if (!await position.handled(token)) return;
        await deliveries.checkpointed();
        await attempts.checkpointed();
      },
      async remembered(roomIds) {
        await position.get(); // which loads what was shown
        return await rooms.remembered(roomIds);
      },
      noteSettled: (names) => deliveries.noteSettled(names),
      readRecords: (keys) => writer.getMany(keys.map((key) => writer.keys.record(key))),
      async deferRecords(mutations) {
        await position.receivesAhead();
        writer.owe(records(mutations));
      },
      position: settled(() => position.get()),
      move: settled((nextBatch) => position.move(nextBatch)),
      syncAnew: settled(() => position.syncAnew()),
      settled: settled(() => deliveries.settled()),
      commitSessions: settled((change) => deliveries.commitSessions(change)),
      attempt: settled(async (attempt) => {
        const attempted = await attempts.begin(attempt);
        return await quarantine.has(attempt.id) ? { ...attempted, verdict: "out" } : attempted;
      }),
      outlived: settled((id) => attempts.outlived(id)),
      ended: settled((ids) => attempts.ended(ids)),
      ending: settled(async ({ isEnding }) => {
        const changes = await attempts.ending(isEnding);
        if (!isEnding) return;
        position.ending();
        await writer.flush([...changes, ...quarantine.ending()]);
      }),
      quarantine: settled(async (record) =>
        await quarantine.add(record, await deliveries.settled(), await attempts.leavingOut(record.id))
      ),
      quarantined: settled(() => quarantine.list()),
      retryQuarantined: settled(({ id, at }) => quarantine.retry(id, at)),
      waitQuarantined: settled(({ id, at }) => quarantine.wait(id, at)),
      release: settled(async ({ id, settled }) =>
        await quarantine.release(id, await deliveries.recording(settled))
      ),
      flush: settled(() => writer.flush()),
      rest: settled(() => writer.rest()),
      take: settled(() => writer.take()),
      handBack: settled(({ hears }) => writer.handBack(hears)),
      saveFilter: settled((filter) => position.saveFilter(filter)),
      getState: settled((query) => rooms.getState(query)),
      listState: settled(({ roomId, type }) => rooms.listState(roomId, type)),
      putState: settled(({ roomId, events }) => rooms.putState(roomId, events)),
      replaceMembers: settled(({ roomId, events, only, complete }) =>
        rooms.replaceMembers(roomId, events, only, complete)
      ),
      room: settled((roomId) => rooms.room(roomId)),
      rooms: settled(() => rooms.rooms()),
      pruneRooms: settled(({ leftBefore }) => rooms.prune(leftBefore)),
      noEncryption: settled((roomId) => rooms.noEncryption(roomId)),
      listRecords: settled(({ prefix, ...options }) => writer.listRecords(prefix, options)),
      commitRecords: settled((mutations) => writer.commit(records(mutations))),
    },
    onStop: async () => {
      await keeping;
      await writer.close();
    },
  });
  return store;
}

interface Keeping {
  readonly writer: Pick<StoreWriter, "isResting" | "isKept" | "isLeftOver" | "dueIn" | "onDeferred">;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

/** Renews the lease, and commits deferred changes if nothing else does. Between the two nothing wakes up. */
async function keep(
  store: ActorRef<StoreProtocol>,
  { writer, clock, stopping }: Keeping,
): Promise<void> {
  const passes = (ms: number) => clock.delay(ms, { signal: stopping, persistent: false });
  const flush = async () => {
    if (!writer.isResting) await store.ask("flush", undefined);
  };
  let isDue = false;
  writer.onDeferred = () => {
    if (isDue) return;
    isDue = true;
    // It rejects when the Store is stopping, or has failed, and rejects its `done`.
    passes(MAX_DEFERRED).then(() => (isDue = false, flush())).catch(() => {});
  };
  writer.onDeferred(); // the opening may have left something
  try {
    for (;;) {
      await passes(writer.isKept ? writer.dueIn : Math.min(writer.dueIn, MAX_DEFERRED));
      if (writer.isLeftOver) await store.ask("handBack", { hears: false }); // a call between two passes has taken it
      else await flush();
    }
  } catch {
    // As above.
  }
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
      const changes = await this.#rooms.changes(change.rooms);
      const crashes = await this.#position.advance(change, changes.mutations.length > 0);
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
