/**
 * Work that is done once for several requests.
 *
 * @module
 */

/**
 * Runs some work, one run at a time. A request that comes while a run is under way may be too late
 * for that one, and shares the next with all others that come meanwhile. After a run has failed,
 * all fail with its error.
 */
export class SharedRuns {
  readonly #work: () => Promise<void>;
  /** Settles with the last run that has begun. */
  #current: Promise<void> = Promise.resolve();
  /** Settles with the one after it. */
  #next: Promise<void> | undefined;
  #isBusy = false;

  /** @param work What to run. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves with a run that begins from now on. */
  next(): Promise<void> {
    return this.#next ??= this.#run();
  }

  /** Settles with the last run that was requested. */
  get last(): Promise<void> {
    return this.#next ?? this.#current;
  }

  /** The same while a run is under way or requested; otherwise undefined. */
  get pending(): Promise<void> | undefined {
    return this.#next ?? (this.#isBusy ? this.#current : undefined);
  }

  async #run(): Promise<void> {
    await this.#current;
    this.#current = this.#next ?? this.#current;
    this.#next = undefined;
    this.#isBusy = true;
    try {
      await this.#work();
    } finally {
      this.#isBusy = false;
    }
  }
}
