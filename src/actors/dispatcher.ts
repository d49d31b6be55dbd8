/**
 * The Dispatcher: brings what a sync response holds to handlers, room by room, in order.
 *
 * @module
 */

import type { Logger } from "../log.ts";
import type { Actor, ActorRef } from "./actor.ts";
import { SyncStream } from "../types/sync_stream.ts";
import type { Deliverer, Task } from "./deliver.ts";
import type { DispatcherProtocol, SyncBatch } from "./dispatcher_protocol.ts";
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
  /** How many handlers may be at work when the next sync is asked for. */
  readonly maxPending: number;
  /** Where failures are told. */
  readonly log?: Logger;
}

/** Starts the Dispatcher. */
export function spawnDispatcher(
  { deliverer, store, maxPending, log }: DispatcherOptions,
): Actor<DispatcherProtocol> {
  const pending = new PendingTasks();
  const mark = new HandledMark((batch) => pending.settled(batch), (token) => store.ask("handled", token));
  return spawn<DispatcherProtocol>({
    name: "dispatcher",
    log,
    handlers: {
      dispatch: (batch) => {
        const tasks = deliverer.idle ? [] : start(deliverer, batch);
        const number = pending.add(tasks);
        mark.follows(number, batch.nextBatch);
        const awaited = tasks.filter(({ waitSync }) => waitSync).map(({ done }) => done);
        if (awaited.length === 0 && pending.size <= maxPending) return number;
        return later(Promise.all([...awaited, pending.atMost(maxPending)]).then(() => number));
      },
      settled: (batch) => later(pending.settled(batch).then(() => mark.noted())),
      announce: ({ type, data }) => {
        const tasks = deliverer.internal(type, data);
        pending.add(tasks);
        return later(
          Promise.all(tasks.filter(({ waitSync }) => waitSync).map(({ done }) => done)).then(() => {}),
        );
      },
    },
    onStop: async () => {
      await pending.settled(Infinity);
      await mark.noted();
    },
  });
}

function start(deliverer: Deliverer, batch: SyncBatch): Task[] {
  const tasks: Task[] = [];
  const add = (more: readonly Task[]): void => {
    if (more.length > 0) tasks.push(...more);
  };
  for (const { type, data } of batch.internal) add(deliverer.internal(type, data));
  for (const event of batch.global) add(deliverer.event(event));
  for (const { gap, events, remarks } of batch.rooms) {
    if (gap !== undefined) add(deliverer.internal(gap.type, gap.data));
    for (const [index, event] of events.entries()) {
      add(deliverer.event(event, undefined, (event.source & SyncStream.TIMELINE) !== 0));
      const remark = remarks.size > 0 ? remarks.get(index) : undefined;
      if (remark !== undefined) add(deliverer.internal(remark.type, remark.data));
    }
  }
  return tasks;
}

/** The handlers at work, by the batch they were started with. */
class PendingTasks {
  readonly #batches = new Map<number, Promise<unknown>>();
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
    this.#batches.set(number, Promise.all(settled).then(() => this.#batches.delete(number)));
    return number;
  }

  /** Resolves when every handler of a batch, and of those before, has settled. */
  async settled(last: number): Promise<void> {
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
