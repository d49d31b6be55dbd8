import type { KvWatch } from "./watched_kv.ts";

/** Pauses before one of the commits that come after it was started, until the test continues it. */
export class PausingWatch implements KvWatch {
  readonly #reached = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #left = Infinity;

  /** Resolves when it pauses. */
  readonly reached: Promise<void> = this.#reached.promise;

  /** Counts from here on; 1 is the next commit. */
  start(at: number): void {
    this.#left = at;
  }

  go(): void {
    this.#gone.resolve();
  }

  async beforeCommit(): Promise<void> {
    if (--this.#left > 0) return;
    this.#left = Infinity;
    this.#reached.resolve();
    await this.#gone.promise;
  }
}
