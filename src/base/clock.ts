/**
 * Time, injected: code that waits or reads the clock is given a {@link Clock}, so that tests can
 * set the time; and how long to wait between tries.
 *
 * @module
 */

import { platform } from "./platform/mod.ts";
import { delay } from "@std/async/delay";

/** Options of {@linkcode Clock.delay}. */
export interface DelayOptions {
  /** Ends the wait: the promise then rejects with the signal's reason. Default: none. */
  signal?: AbortSignal;
}

/** Says the time, and waits. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch. */
  now(): number;
  /**
   * Waits.
   *
   * @param ms How long, in milliseconds.
   * @param options What ends the wait before.
   */
  delay(ms: number, options?: DelayOptions): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  delay: (ms, { signal } = {}) => delay(ms, { signal }),
};

/** The longest time that a timer can wait, in milliseconds: it does not wait for a longer one. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * Waits by the machine's clock, and does not keep a process of Deno alive. `delay()` of `@std/async` does, with any
 * options: it turns its timer into a number, by which Deno 2.9 finds no timer.
 */
export function idleDelay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    platform.unref(timer);
  });
}

/** Why a wait ends that nobody needs any more: a reason that is made each time would note a stack. */
const NOT_NEEDED = new DOMException("The wait is not needed any more", "AbortError");

/**
 * Calls back after a while.
 *
 * @param clock Measures the time.
 * @param ms How long, in milliseconds.
 * @param call What to call.
 * @returns Ends the wait; without effect when it is over.
 */
export function alarm(clock: Clock, ms: number, call: () => void): () => void {
  if (clock === systemClock && ms <= LONGEST_TIMEOUT) {
    const timer = setTimeout(call, ms); // a third of the time of a delay with a signal
    return () => clearTimeout(timer);
  }
  const ended = new AbortController();
  clock.delay(ms, { signal: ended.signal }).then(call, () => {});
  return () => ended.abort(NOT_NEEDED);
}

/**
 * The time that has gone by.
 *
 * A moment that lies ahead was written before the clock was set back: it is unknown how long ago it
 * was, and whatever waits for time to go by would wait for years. It counts as long ago.
 *
 * @param now The wall clock, in milliseconds since the epoch.
 * @param since The moment, likewise; undefined: never.
 * @returns Milliseconds; infinity if it never was, or lies ahead.
 */
export function elapsed(now: number, since: number | undefined): number {
  return since === undefined || since > now ? Infinity : now - since;
}

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
  return doubled(attempt, range) * (1 - Math.random() / 5);
}
