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
 * The delay before the next try: doubled each time, never above the cap.
 *
 * @param attempt How many tries have failed before this delay, from 0.
 */
export function doubled(attempt: number, { base, cap }: BackoffRange): number {
  return Math.min(cap, base * 2 ** Math.min(attempt, 30));
}

/**
 * The same, up to a fifth shorter by chance, so that clients that failed together do not come back
 * together.
 *
 * @param attempt How many tries have failed before this delay, from 0.
 */
export function backoff(attempt: number, range: BackoffRange): number {
  // deno-lint-ignore greenroom/no-ambient -- any random number will do; tests check the bounds
  return doubled(attempt, range) * (1 - Math.random() / 5);
}
