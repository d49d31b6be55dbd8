/**
 * How long ago something was, on a clock that may be set back: whatever waits for a while, or does something once in a while, goes
 * by this.
 *
 * @module
 */

/**
 * The time that has gone by.
 *
 * A moment that lies ahead was written before the clock was set back: nobody knows how long ago it was, and whatever waits for time
 * to go by would wait for years. It counts as long ago.
 *
 * @param now The wall clock, in milliseconds since the epoch.
 * @param since The moment, likewise; undefined: never.
 * @returns Milliseconds; infinity if it never was, or lies ahead.
 */
export function elapsed(now: number, since: number | undefined): number {
  return since === undefined || since > now ? Infinity : now - since;
}
