/**
 * For how long a handler is waited for where events are delivered one after the other.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";

/** In milliseconds. */
const PATIENCE = 5_000;

/**
 * Waits for a handler, but not for ever: it may wait for the very event that comes next.
 *
 * @param over Settles when the handler has.
 * @returns Whether it has in time.
 */
export async function patience(clock: Clock, over: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  const late = clock.delay(PATIENCE, { signal: waiting.signal, persistent: false }).then(() => false);
  const inTime = over.then(() => true, () => true);
  inTime.then(() => waiting.abort());
  return await Promise.race([inTime, late.catch(() => true)]);
}
