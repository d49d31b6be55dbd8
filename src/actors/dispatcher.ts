/**
 * The Dispatcher: brings what a sync response holds to handlers, room by room, in order.
 *
 * @module
 */

import type { RecoveredEvent } from "../crypto/engine_protocol.ts";
import type { Logger } from "../log.ts";
import type { Actor, ActorRef } from "./actor.ts";
import type { Deliverer, Task } from "./deliver.ts";
import type { DispatcherProtocol, InternalDelivery, SyncBatch } from "./dispatcher_protocol.ts";
import type { MatrixEvent } from "../types/event.ts";
import { HandledMark } from "./handled_mark.ts";
import { later } from "./later.ts";
import { spawn } from "./spawn.ts";
import type { StoreProtocol } from "./store_protocol.ts";

/** What the Dispatcher is made of. */
export interface DispatcherOptions {
  /** Starts the handlers. */
  readonly deliverer: Deliverer;
  /** Keeps the token up to which handlers have settled. */
  readonly store: ActorRef<StoreProtocol>;
  /** Notes that events which had been waiting for their keys have been handled. */
  readonly settle: (events: readonly RecoveredEvent[]) => Promise<void>;
  /** How many handlers may be at work when the next sync is asked for. */
  readonly maxPending: number;
  /** Where failures are told. */
  readonly log?: Logger;
}

const COMES_AGAIN = { comesAgain: true };

/** Starts the Dispatcher. */
export function spawnDispatcher(
  { deliverer, store, settle, maxPending, log }: DispatcherOptions,
): Actor<DispatcherProtocol> {
  const pending = new PendingTasks();
  const recovering = new Notes();
  const mark = new HandledMark((batch) => pending.upTo(batch), (token) => store.ask("handled", token));
  return spawn<DispatcherProtocol>({
    name: "dispatcher",
    log,
    handlers: {
      dispatch: (batch) => {
        const tasks = deliverer.idle ? [] : start(deliverer, batch);
        const number = pending.add(tasks);
        mark.follows(number, batch.nextBatch);
        const waits = waitSync(tasks);
        if (waits.length === 0 && pending.size <= maxPending) return number;
        return later(Promise.all([...waits, pending.atMost(maxPending)]).then(() => number));
      },
      recover: (events) => {
        const tasks = events.flatMap(({ event }) => deliverer.event(event, COMES_AGAIN));
        const number = pending.add(tasks);
        recovering.add(pending.of(number).then(() => settle(events)));
        return later(Promise.all(waitSync(tasks)).then(() => {}));
      },
      settled: (batch) => later(pending.of(batch)),
      noted: () =>
        later(
          pending.upTo(Infinity).then(() => mark.noted()).then(() => store.ask("flush", undefined)),
        ),
      announce: ({ type, data }) => {
        const tasks = deliverer.internal(type, data);
        pending.add(tasks);
        return later(Promise.all(waitSync(tasks)).then(() => {}));
      },
    },
    onStop: async () => {
      await pending.upTo(Infinity);
      await recovering.all();
      await mark.noted().catch(() => {}); // the store that failed says so by its `done`
    },
  });
}

function start(deliverer: Deliverer, batch: SyncBatch): Task[] {
  const tasks: Task[] = [];
  const tell = ({ type, data }: InternalDelivery): void => {
    tasks.push(...deliverer.internal(type, data, COMES_AGAIN));
  };
  const deliver = (event: MatrixEvent): void => {
    tasks.push(...deliverer.event(event, COMES_AGAIN));
  };
  batch.internal.forEach(tell);
  batch.global.forEach(deliver);
  for (const { gap, events, ignored, remarks } of batch.rooms) {
    if (gap !== undefined) tell(gap);
    for (const [index, event] of events.entries()) {
      if (!ignored.has(index)) deliver(event);
      const remark = remarks.get(index);
      if (remark !== undefined) tell(remark);
    }
  }
  return tasks;
}

function waitSync(tasks: readonly Task[]): Promise<void>[] {
  return tasks.filter((task) => task.waitSync).map(({ done }) => done);
}

/** What is being noted. That it can't be, the part says that fails; the events come again then. */
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

/** The handlers at work, by the batch they were started with. */
class PendingTasks {
  readonly #batches = new Map<number, Promise<void>>();
  readonly #waiting: { readonly limit: number; readonly resolve: () => void }[] = [];
  #next = 0;
  #size = 0;

  /** How many handlers are at work. */
  get size(): number {
    return this.#size;
  }

  /** @returns The number of the batch. */
  add(tasks: readonly Task[]): number {
    const number = this.#next++;
    if (tasks.length === 0) return number;
    this.#size += tasks.length;
    const settled = tasks.map(({ done }) => done.then(() => this.#settle()));
    const all = Promise.all(settled).then(() => {
      this.#batches.delete(number);
    });
    this.#batches.set(number, all);
    return number;
  }

  /** Resolves when every handler of a batch has settled. */
  async of(number: number): Promise<void> {
    await this.#batches.get(number);
  }

  /** Resolves when every handler of a batch, and of those before, has settled. */
  async upTo(last: number): Promise<void> {
    await Promise.all([...this.#batches].filter(([number]) => number <= last).map(([, done]) => done));
  }

  /** Resolves when no more than so many handlers are at work. */
  atMost(limit: number): Promise<void> {
    if (this.#size <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ limit, resolve }));
  }

  #settle(): void {
    this.#size--;
    while (this.#waiting[0] !== undefined && this.#size <= this.#waiting[0].limit) {
      this.#waiting.shift()?.resolve();
    }
  }
}
