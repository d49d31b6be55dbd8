/**
 * The Dispatcher: delivers the events of sync responses to handlers, room by room, in order.
 *
 * @module
 */

import type { RecoveredEvent } from "../../crypto/megolm/decrypted.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Actor, ActorRef } from "../kernel/actor.ts";
import { CAREFUL_AFTER, deliverCarefully, type Step } from "./careful_delivery.ts";
import type { Deliverer, DelivererOptions, NamedDelivery, Started, Task } from "./deliver.ts";
import type { DispatcherProtocol, InternalDelivery, SyncBatch } from "./dispatcher_protocol.ts";
import { noteEncryption } from "../../types/events/encryption_of.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { Checkpoint, PendingTasks } from "./checkpoint.ts";
import { Quarantine } from "./quarantine.ts";
import { ClientEndedError } from "../../errors/client_ended_error.ts";
import { fatal } from "../kernel/actor_error.ts";
import { later, spawn } from "../kernel/spawn.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";
import type { UnreadNotes } from "./unread_rooms.ts";

/** What the Dispatcher is made of. */
export interface DispatcherOptions {
  /** Starts the handlers. */
  readonly deliverer: Deliverer;
  /** Stores the checkpoint. */
  readonly store: ActorRef<StoreProtocol>;
  /** Records that events which had waited for their keys have been handled. */
  readonly settle: (events: readonly RecoveredEvent[]) => Promise<void>;
  /** Looks at what is delivered before its handlers get it; undefined: nothing does. */
  readonly note?: UnreadNotes;
  /**
   * Whether what was delivered can come again, to another process: only then does a delivery need a
   * name.
   */
  readonly comesAgain: boolean;
  /** How many handlers may be at work before the next response waits for them. */
  readonly maxPending: number;
  /** Whether the client can't go on: see {@link DelivererOptions.isOver}. */
  readonly isOver: DelivererOptions["isOver"];
  /** Measures waits. */
  readonly clock: Clock;
  /** Logs failures. */
  readonly log: Logger;
}

const CUT_OFF =
  "Cannot go on: handlers were cut off when the access token died; make a new client, which calls them again";

/** Starts the Dispatcher. */
export function spawnDispatcher(options: DispatcherOptions): Actor<DispatcherProtocol> {
  const { deliverer, store, settle, note, comesAgain, maxPending, isOver, clock, log } = options;
  const none = (): Started => comesAgain ? { tasks: [], settled: [] } : { tasks: [] };
  const pending = new PendingTasks();
  const recovering = new Notes();
  const checkpoint = new Checkpoint(async (batch) => {
    await pending.upTo(batch);
    if (!pending.isCutOff) pending.handled(batch); // it is about to be recorded
  }, async (token) => {
    if (!pending.isCutOff) await store.ask("handled", token);
  });
  const quarantine = new Quarantine({ store, deliverer, clock, log });
  /** The careful delivery under way, or the latest. */
  let careful: Promise<unknown> = Promise.resolve();
  let prepared: Promise<void> | undefined;
  /** An earlier process may have settled some of what comes again, or have quarantined it. */
  const prepare = () =>
    prepared ??= store.ask("settled", undefined).then(async (names) => {
      deliverer.leaveOut(names);
      if (comesAgain) pending.add({ tasks: [...await quarantine.open()] });
    });
  const carefully = (batch: SyncBatch): Promise<Started> => {
    const settled: NamedDelivery[] = [];
    return deliverCarefully(stepsOf(batch, deliverer, settled), { store, clock, settled, quarantine });
  };
  /** @returns The number of the batch, when the next may come. */
  const follow = (started: Started, { nextBatch }: SyncBatch): number | Promise<number> => {
    const number = pending.add(started);
    checkpoint.follows(number, nextBatch);
    const waits = waitSync(started.tasks);
    if (waits.length === 0 && pending.size <= maxPending) return number;
    return Promise.all([...waits, pending.atMost(maxPending)]).then(() => number);
  };
  return spawn<DispatcherProtocol>({
    name: "dispatcher",
    log,
    handlers: {
      dispatch: async (batch) => {
        if (pending.isCutOff && !isOver()) throw fatal(new ClientEndedError(CUT_OFF));
        await prepare();
        if (comesAgain) noteSettled(pending, store);
        if (!quarantine.isEmpty) {
          await quarantine.forgetRedacted(batch);
          quarantine.retryDue();
        }
        const isSuspect = batch.crashes >= (quarantine.isEmpty ? CAREFUL_AFTER : 1);
        if (isSuspect && !deliverer.idle) {
          const followed = carefully(batch).then((started) => follow(started, batch));
          careful = followed.catch(() => {}); // who asked for it gets that
          return later(followed);
        }
        const number = follow(start(batch, { deliverer, note, started: none() }), batch);
        return typeof number === "number" ? number : later(number);
      },
      recover: async (events) => {
        await prepare();
        const started = none();
        for (const recovered of events) deliverer.event(noteEncryption(recovered.event, recovered), started);
        const number = pending.add({ tasks: started.tasks }); // they are recorded by `settle()`
        recovering.add(pending.of(number).then((isSettled) => isSettled ? settle(events) : undefined));
        return later(Promise.all(waitSync(started.tasks)).then(() => {}));
      },
      settled: (batch) => later(pending.of(batch).then(() => {})),
      noted: (body) =>
        later(
          careful.then(() => pending.upTo(Infinity)).then(() => quarantine.idle()).then(() =>
            checkpoint.recorded()
          )
            .then(() => body?.later ? undefined : store.ask("flush", undefined)),
        ),
      redeliver: async (id) => {
        await prepare();
        return later(quarantine.redeliver(id));
      },
      drop: (id) => quarantine.drop(id),
      announce: ({ type, data }) => {
        const started: Started = { tasks: [] };
        deliverer.internal(type, data, started);
        pending.add(started);
        return later(Promise.all(waitSync(started.tasks)).then(() => {}));
      },
    },
    onStop: async () => {
      note?.end();
      store.ask("ending", { isEnding: true }).catch(() => {}); // a store that failed rejects its `done`
      await pending.upTo(Infinity);
      if (pending.isCutOff) noteSettled(pending, store); // what was cut off comes again, and nothing else
      await recovering.all();
      await quarantine.idle();
      await checkpoint.recorded().catch(() => {}); // a store that failed rejects its `done`
    },
  });
}

/** Records what has settled of responses that wait for other handlers. */
function noteSettled(pending: PendingTasks, store: ActorRef<StoreProtocol>): void {
  const names = pending.takeSettled();
  if (names.length > 0) store.ask("noteSettled", names).catch(() => {}); // a store that failed rejects its `done`
}

/** Calls back with all events of a batch, in the order of delivery. */
function visit(
  { internal, global, rooms }: SyncBatch,
  { deliver, tell }: { deliver: (event: MatrixEvent) => void; tell: (event: InternalDelivery) => void },
): void {
  internal.forEach(tell);
  global.forEach(deliver);
  for (const { gap, events, ignored, remarks, ephemeral, accountData } of rooms) {
    if (gap !== undefined) tell(gap);
    events.forEach((event, index) => {
      if (ignored?.has(index) !== true) deliver(event);
      const remark = remarks.get(index);
      if (remark !== undefined) tell(remark);
    });
    ephemeral.forEach(deliver);
    accountData.forEach(deliver);
  }
}

function start(
  batch: SyncBatch,
  { deliverer, note, started }: Pick<DispatcherOptions, "deliverer" | "note"> & {
    readonly started: Started;
  },
): Started {
  if (deliverer.idle) return started;
  visit(batch, {
    deliver: (event) => {
      note?.event(event);
      deliverer.event(event, started);
    },
    tell: (delivery) => {
      note?.told(delivery);
      deliverer.internal(delivery.type, delivery.data, started);
    },
  });
  return started;
}

function stepsOf(batch: SyncBatch, deliverer: Deliverer, settled: NamedDelivery[]): Step[] {
  const steps: Step[] = [];
  const counts = new Map<string, number>();
  const add = (step: Step): void => {
    const count = counts.get(step.id) ?? 0;
    counts.set(step.id, count + 1);
    steps.push(count === 0 ? step : { ...step, id: `${step.id} ${count}` });
  };
  visit(batch, {
    deliver: (event) =>
      add({
        delivery: { data: event },
        id: nameOf(event),
        isWanted: () => deliverer.wants(event),
        start: () => deliverer.event(event, { tasks: [], settled }),
      }),
    tell: (delivery) => {
      const { type, data } = delivery;
      add({
        delivery,
        id: `${nameOf("event" in data ? data.event : data)} ${type}`,
        isWanted: () => deliverer.wantsInternal(type),
        start: () => deliverer.internal(type, data, { tasks: [], settled }),
      });
    },
  });
  return steps;
}

/** A name for data: its event ID, or what comes closest to one. */
function nameOf(data: object): string {
  const { event_id, type, room_id, sender, state_key }: Partial<Record<string, unknown>> = { ...data };
  return typeof event_id === "string" ? event_id : JSON.stringify([type, room_id, sender, state_key]);
}

function waitSync(tasks: readonly Task[]): Promise<unknown>[] {
  return tasks.filter((task) => task.waitSync).map(({ done }) => done);
}

/**
 * The records that are being written. If one fails, the store rejects its `done`, and the events
 * come again.
 */
class Notes {
  readonly #notes = new Set<Promise<void>>();

  add(note: Promise<void>): void {
    const done = note.catch(() => {}).then(() => {
      this.#notes.delete(done);
    });
    this.#notes.add(done);
  }

  async all(): Promise<void> {
    await Promise.all(this.#notes);
  }
}
