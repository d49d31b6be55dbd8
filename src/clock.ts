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
