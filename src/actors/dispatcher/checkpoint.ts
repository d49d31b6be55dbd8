/**
 * Which handlers are at work, and the checkpoint: the token up to which all handlers have settled.
 *
 * @module
 */

import type { Started } from "./deliver.ts";
import { SharedRuns } from "../../base/runs.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { StoreHandlers } from "../store/mod.ts";

/** The handlers at work, by the batch they were started with. */
export class PendingTasks {
  /** Whether a handler was cut off: nothing is recorded any more as handled up to a token. */
  isCutOff = false;
  /** What resolves when every handler of a batch has ended, to whether all have settled. */
  readonly #batches = new Map<number, Promise<boolean>>();
  /**
   * By batch, names of deliveries that have settled and were not reported yet. They are removed
   * when everything up to the batch counts as handled.
   */
  readonly unreported = new Map<number, string[]>();
  readonly #waiting: { readonly limit: number; readonly resolve: () => void }[] = [];
  #next = 0;
  #size = 0;

  /** How many handlers are at work. */
  get size(): number {
    return this.#size;
  }

  /**
   * Adds the handlers that were started with a batch.
   *
   * @param settled Deliveries of the batch that have settled already.
   * @returns The number of the batch.
   */
  add({ tasks, settled = [] }: Started): number {
    const number = this.#next++;
    // When nothing is at work, all is about to be recorded as handled: the names, which are many,
    // are not needed.
    const isHandled = this.#batches.size === 0 && !this.isCutOff;
    if (tasks.length === 0 && (settled.length === 0 || isHandled)) return number;
    this.unreported.set(number, settled.map(({ name }) => name));
    if (tasks.length === 0) return number;
    this.#size += tasks.length;
    const done = Promise.all(tasks.map(({ done, name }) =>
      done.then((ending) => {
        const isSettled = ending === "settled";
        if (name !== undefined && isSettled) this.unreported.get(number)?.push(name);
        this.isCutOff ||= !isSettled;
        this.#ended();
        return isSettled;
      })
    )).then((all) => {
      this.#batches.delete(number);
      return all.every(Boolean);
    });
    this.#batches.set(number, done);
    return number;
  }

  /**
   * Names of deliveries that have settled, of batches that are not handled as a whole. Each is
   * returned once.
   */
  takeSettled(): string[] {
    const taken: string[] = [];
    for (const [number, names] of this.unreported) {
      for (const name of names.splice(0)) taken.push(name);
      if (!this.#batches.has(number)) this.unreported.delete(number); // the batch is complete
    }
    return taken;
  }

  /**
   * Discards the names of a batch and of those before: everything up to there is recorded as
   * handled.
   */
  handled(last: number): void {
    for (const number of this.unreported.keys()) {
      if (number > last) return;
      this.unreported.delete(number);
    }
  }

  /** Resolves when every handler of a batch has ended, to whether all have settled. */
  async of(number: number): Promise<boolean> {
    return await this.#batches.get(number) ?? true;
  }

  /** Resolves when every handler of a batch, and of those before, has ended. */
  async upTo(last: number): Promise<void> {
    for (const [number, done] of [...this.#batches]) if (number <= last) await done;
  }

  /** Resolves when no more than so many handlers are at work. */
  atMost(limit: number): Promise<void> {
    if (this.#size <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ limit, resolve }));
  }

  #ended(): void {
    this.#size--;
    while (this.#waiting[0] !== undefined && this.#size <= this.#waiting[0].limit) {
      this.#waiting.shift()?.resolve();
    }
  }
}

/**
 * Records in the store up to where handlers have settled, for several batches at once if they are
 * fast.
 */
export class Checkpoint {
  readonly #pending: Pick<PendingTasks, "upTo" | "isCutOff" | "handled">;
  readonly #store: Pick<ActorRef<StoreHandlers>, "handled">;
  #latest: { readonly batch: number; readonly token: SyncToken } | undefined;
  /** Each run ends when the batch that was the latest at its start has been recorded. */
  readonly #records = new SharedRuns(async () => {
    const latest = this.#latest;
    if (latest === undefined) return;
    await this.#pending.upTo(latest.batch);
    if (this.#pending.isCutOff) return;
    this.#pending.handled(latest.batch); // it is about to be recorded
    await this.#store.handled(latest.token);
  });

  /**
   * @param pending Knows when the handlers of a batch and of those before have settled.
   * @param store Stores a token.
   */
  constructor(
    pending: Pick<PendingTasks, "upTo" | "isCutOff" | "handled">,
    store: Pick<ActorRef<StoreHandlers>, "handled">,
  ) {
    this.#pending = pending;
    this.#store = store;
  }

  /** Follows one more batch, with the token that its response ended with. */
  follows(batch: number, token: SyncToken): void {
    this.#latest = { batch, token };
    this.#records.next().catch(() => {}); // a store that failed rejects its `done`
  }

  /**
   * Resolves when all batches that are followed by now have been recorded.
   *
   * @throws What the store failed with.
   */
  async recorded(): Promise<void> {
    await this.#records.last;
  }
}
