/**
 * Who may go on beside whom.
 *
 * @module
 */

/** Lets many go on side by side, or one alone, in the order in which they came. */
export class Gate {
  /** Settles when the last of those that go alone has ended. */
  #alone: Promise<unknown> = Promise.resolve();
  readonly #beside = new Set<Promise<unknown>>();
  #waiting = 0;

  /** Starts at once beside others that do the same; if one goes alone, or waits to, this waits to go alone too. */
  beside<Result>(action: () => Promise<Result>): Promise<Result> {
    if (this.#waiting > 0) return this.alone(action);
    const result = action();
    const settled = result.then(() => {}, () => {}).finally(() => this.#beside.delete(settled));
    this.#beside.add(settled);
    return result;
  }

  /** Starts when all that came before has ended; what comes later waits. */
  alone<Result>(action: () => Promise<Result>): Promise<Result> {
    this.#waiting++;
    const result = Promise.all([this.#alone, ...this.#beside]).then(action);
    this.#alone = result.then(() => {}, () => {}).finally(() => this.#waiting--);
    return result;
  }
}
