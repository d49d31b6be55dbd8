/**
 * The signal that the first sync of a start has been handled.
 *
 * @module
 */

import { type HTTPAPI, SKEW, wrongBy } from "../api/http/mod.ts";
import type { Logger } from "../base/log.ts";

/** One start's signal after the other. With the first, the log says it if the clock is wrong. */
export class FirstSync {
  readonly #http: Pick<HTTPAPI, typeof SKEW>;
  readonly #log: Logger;
  #isWarned = false;
  #signal = Promise.withResolvers<void>();
  #isSettled = false;

  /**
   * @param http Has seen the server's time, or not.
   * @param log Gets the warning.
   */
  constructor(http: Pick<HTTPAPI, typeof SKEW>, log: Logger) {
    this.#http = http;
    this.#log = log;
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
    this.#warnOfClock();
    this.#isSettled = true;
    this.#signal.resolve();
  }

  /** There won't be any. Without effect if it has been handled. */
  reject(reason: unknown): void {
    this.#isSettled = true;
    this.#signal.reject(reason);
  }

  /** What breaks by a wrong clock does not say so itself. A server may say anything, so nothing else comes of it. */
  #warnOfClock(): void {
    const skew = this.#http[SKEW];
    const wrong = wrongBy(skew ?? 0);
    if (this.#isWarned || wrong === undefined) return;
    this.#isWarned = true;
    this.#log.warn(
      `The clock of this machine is ${wrong}: reminders and schedules come at a wrong time, and from ` +
        "five minutes on requests to verify a device are ignored; set the clock",
      { skew },
    );
  }

  #own(): void {
    this.#signal.promise.catch(() => {});
  }
}
