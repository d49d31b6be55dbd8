/**
 * What a run has begun and not ended, whether its functions await it or not.
 *
 * @module
 */

/** How many turns of the microtask queue pass until what comes after a step has begun, if it does. */
const TURNS = 30;

/** Counts what is under way. */
export class Begun {
  #pending = 0;
  /** Resolves when nothing is pending; undefined: nobody waits for that. */
  #idle: PromiseWithResolvers<void> | undefined;
  /** Resolves when what was done in turn last has ended; undefined: it has. */
  #last: Promise<void> | undefined;

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** Does work, and counts it until it has ended. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#pending++;
    try {
      return await work();
    } finally {
      if (--this.#pending === 0) {
        this.#idle?.resolve();
        this.#idle = undefined;
      }
    }
  }

  /** Does work when what was to be done in turn before has ended. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last === undefined ? work() : this.#last.then(work);
    const over = (): void => {
      if (this.#last === last) this.#last = undefined;
    };
    const last: Promise<void> = this.#last = done.then(over, over);
    return done;
  }

  /** Waits until nothing is under way, and nothing begins in consequence. */
  async settled(): Promise<void> {
    do {
      if (this.#pending > 0) await (this.#idle ??= Promise.withResolvers()).promise;
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
    } while (this.#pending > 0);
  }
}
