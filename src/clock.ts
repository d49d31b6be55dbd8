/**
 * Time, injected: whoever waits or looks at the clock takes a {@link Clock}, so that tests move time by hand.
 *
 * @module
 */

import { delay } from "@std/async/delay";

/** What Greenroom asks of time. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch. */
  now(): number;
  /**
   * Waits.
   *
   * @param ms How long, in milliseconds.
   * @param options.signal Ends the wait: the promise then rejects with the signal's reason.
   * @param options.persistent Whether the process has to live on for this wait. Default: true.
   */
  delay(ms: number, options?: { signal?: AbortSignal; persistent?: boolean }): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, options) => delay(ms, options),
};

/** The longest time that `setTimeout()` can wait, in milliseconds: it takes a longer one for none. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

const SILENCED = new DOMException("The alarm is not needed any more", "AbortError");

/**
 * Calls back after a while.
 *
 * @param clock Measures the time.
 * @param ms How long, in milliseconds.
 * @param ring What to call.
 * @returns Ends the wait; without effect when it is over.
 */
export function alarm(clock: Clock, ms: number, ring: () => void): () => void {
  // As a promise that a signal ends, it took twice the time, of which most requests have nothing: they are in time.
  if (clock === systemClock && ms <= LONGEST_TIMEOUT) {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  }
  const silenced = new AbortController();
  clock.delay(ms, { signal: silenced.signal }).then(ring, () => {});
  return () => silenced.abort(SILENCED);
}
