/**
 * Waits for something, but no longer than there is time.
 *
 * @module
 */

import type { Clock } from "../../../mod.ts";

/**
 * Waits until work has ended, or the time is over: then it goes on, and what it fails with is not
 * told any more.
 *
 * @param ms The time, in milliseconds.
 * @returns Whether it has ended.
 * @throws What the work throws in time.
 */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController();
  const late = clock.delay(Math.max(0, ms), { signal: ended.signal }).then(() => false, () => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    ended.abort();
  }
}
