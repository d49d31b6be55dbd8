/**
 * The handlers at work.
 *
 * @module
 */

import type { Started } from "./deliver.ts";

/** Knows the handlers at work, by the batch they were started with. */
export class PendingTasks {
  /** What resolves when every handler of a batch has settled. */
  readonly #batches = new Map<number, Promise<void>>();
  /** By batch, names of deliveries that have settled and were not told yet; gone when everything up to the batch counts as handled. */
  readonly #untold = new Map<number, string[]>();
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
    // When nothing is at work, all is about to be noted as handled: nobody will ask for names, which are many.
    if (tasks.length === 0 && (settled.length === 0 || this.#batches.size === 0)) return number;
    this.#untold.set(number, settled.map(({ name }) => name));
    if (tasks.length === 0) return number;
    this.#size += tasks.length;
    const done = Promise.all(tasks.map(({ done, name }) =>
      done.then(() => {
        if (name !== undefined) this.#untold.get(number)?.push(name);
        this.#settle();
      })
    )).then(() => {
      this.#batches.delete(number);
    });
    this.#batches.set(number, done);
    return number;
  }

  /** Names of what has settled, of batches up to which not everything is handled; each is told once. */
  takeSettled(): string[] {
    const taken: string[] = [];
    for (const [number, names] of this.#untold) {
      for (const name of names.splice(0)) taken.push(name);
      if (!this.#batches.has(number)) this.#untold.delete(number); // there will be no more of it
    }
    return taken;
  }

  /** What has settled of a batch, and of those before, need not be told any more: everything up to there is noted as handled. */
  handled(last: number): void {
    for (const number of this.#untold.keys()) {
      if (number > last) return;
      this.#untold.delete(number);
    }
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
