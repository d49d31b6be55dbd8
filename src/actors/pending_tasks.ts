/**
 * The handlers at work.
 *
 * @module
 */

import type { Task } from "./deliver.ts";

interface Batch {
  /** Resolves when every handler of it has settled. */
  readonly done: Promise<void>;
  /** Names of deliveries that have settled and were not told yet. */
  settled: string[];
}

/** Knows the handlers at work, by the batch they were started with. */
export class PendingTasks {
  readonly #batches = new Map<number, Batch>();
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
   * @param settled Names of deliveries of the batch that have settled already.
   * @returns The number of the batch.
   */
  add(tasks: readonly Task[], settled: string[] = []): number {
    const number = this.#next++;
    if (tasks.length === 0) return number;
    this.#size += tasks.length;
    const done = Promise.all(tasks.map(({ done, name }) =>
      done.then(() => {
        if (name !== undefined) batch.settled.push(name);
        this.#settle();
      })
    )).then(() => {
      this.#batches.delete(number);
    });
    const batch: Batch = { done, settled };
    this.#batches.set(number, batch);
    return number;
  }

  /** Names of what has settled, of batches of which not everything has; each is told once. */
  takeSettled(): string[] {
    const taken: string[] = [];
    for (const batch of this.#batches.values()) {
      if (batch.settled.length === 0) continue;
      taken.push(...batch.settled);
      batch.settled = [];
    }
    return taken;
  }

  /** Resolves when every handler of a batch has settled. */
  async of(number: number): Promise<void> {
    await this.#batches.get(number)?.done;
  }

  /** Resolves when every handler of a batch, and of those before, has settled. */
  async upTo(last: number): Promise<void> {
    await Promise.all([...this.#batches].filter(([number]) => number <= last).map(([, { done }]) => done));
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
