/**
 * How long to wait between tries.
 *
 * @module
 */

/** A delay that doubles up to a bound. */
export interface BackoffRange {
  /** The first delay, in milliseconds. */
  readonly base: number;
  /** The longest delay, in milliseconds. */
  readonly cap: number;
}

/**
 * The delay before the next try: doubled each time, never above the cap, and up to a fifth shorter by chance, so that
 * clients which failed together do not come back together.
 *
 * @param attempt How many tries have failed before this delay, from 0.
 */
export function backoff(attempt: number, { base, cap }: BackoffRange): number {
  const delay = Math.min(cap, base * 2 ** Math.min(attempt, 30));
  // deno-lint-ignore greenroom/no-ambient -- chance is the point: any value does, and the bounds are what tests look at
  return delay * (1 - Math.random() / 5);
}
