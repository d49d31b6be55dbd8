/**
 * The time limit of one try of a request.
 *
 * @module
 */

import type { Clock } from "../clock.ts";

const ENDED = new DOMException("The request has ended", "AbortError");

/** Aborts its signal when nothing has happened for a while, or when the caller's signal says so. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #outer: AbortSignal | undefined;
  #progress = 0;

  /** Whether somebody has taken over the duty to call {@link Deadline.end}. */
  held = false;

  /** Whether it was the time that ran out. */
  timedOut = false;

  /**
   * @param clock Measures the time.
   * @param ms How long nothing may happen, in milliseconds; 0 means for ever.
   * @param outer The caller's signal.
   */
  constructor(clock: Clock, ms: number, outer: AbortSignal | undefined) {
    outer?.throwIfAborted();
    this.#clock = clock;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#abort);
    if (ms > 0) this.#watch(ms).catch(() => {});
  }

  /** What `fetch` listens to. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something happened: the time starts anew. */
  touch(): void {
    this.#progress++;
  }

  /** Takes over the duty to call {@link Deadline.end}. */
  hold(): void {
    this.held = true;
  }

  /** Ends the watch, and with it whatever of the answer has not been read. */
  end(): void {
    this.#outer?.removeEventListener("abort", this.#abort);
    this.#controller.abort(ENDED);
  }

  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);

  /** Looks once per time limit whether there was progress; ends by the signal's abort, which rejects the delay. */
  async #watch(ms: number): Promise<void> {
    let seen: number;
    do {
      seen = this.#progress;
      await this.#clock.delay(ms, { signal: this.signal });
    } while (seen !== this.#progress);
    this.timedOut = true;
    this.#controller.abort(new DOMException("The request timed out", "TimeoutError"));
  }
}
