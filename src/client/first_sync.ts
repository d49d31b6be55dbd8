/**
 * The signal that the first sync of a start has been handled.
 *
 * @module
 */

/** One start's signal after the other. */
export class FirstSync {
  #signal = Promise.withResolvers<void>();
  #isSettled = false;

  constructor() {
    this.#own();
  }

  /**
   * Resolves when it has been handled; rejects if there won't be one. Unread, it causes no
   * unhandled rejection.
   */
  get handled(): Promise<void> {
    return this.#signal.promise;
  }

  /** Begins the next signal. */
  begin(): void {
    if (!this.#isSettled) return;
    this.#signal = Promise.withResolvers();
    this.#isSettled = false;
    this.#own();
  }

  /** It has been handled. */
  resolve(): void {
    this.#isSettled = true;
    this.#signal.resolve();
  }

  /** There won't be any. Without effect if it has been handled. */
  reject(reason: unknown): void {
    this.#isSettled = true;
    this.#signal.reject(reason);
  }

  #own(): void {
    this.#signal.promise.catch(() => {});
  }
}
