/**
 * Time, injected: code that waits or reads the clock is given a {@link Clock}, so that tests can set the
 * time; how long to wait between tries; and durations as people write them: `90s`, `10m`, `1h30m`, `2 days`.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { platform } from "./platform/mod.ts";

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
  delay: (ms, { signal } = {}) => ms > LONGEST_TIMEOUT ? delay(ms, { signal }) : wait(ms, signal),
};

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const end = platform.startTimer(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    const abort = () => {
      end();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** The longest time that a timer can wait, in milliseconds: it does not wait for a longer one. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * Waits by the machine's clock, and does not keep a process of Deno alive. `delay()` of `@std/async` does,
 * with any options: it turns its timer into a number, by which Deno 2.9 finds no timer.
 */
export function idleDelay(ms: number): Promise<void> {
  return new Promise((resolve) => void platform.startTimer(resolve, ms, { keepsAlive: false }));
}

/**
 * A reason to abort with, the same each time: to make one notes a stack. It is made with the first use, since
 * at the top of a module V8 reads all of that again to say where: 19 ms for a bundle.
 */
export function abortReason(message: string): () => DOMException {
  let reason: DOMException | undefined;
  return () => reason ??= new DOMException(message, "AbortError");
}

const notNeeded = abortReason("The wait is not needed any more");

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
    return platform.startTimer(call, ms); // a third of the time of a delay with a signal
  }
  const ended = new AbortController();
  clock.delay(ms, { signal: ended.signal }).then(call, () => {});
  return () => ended.abort(notNeeded());
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

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DURATION_PART =
  /\s*(\d{1,9}(?:\.\d{1,3})?)\s*(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?![a-z])/iy;
const MAX_DURATION_MS = 3650 * 86_400_000;

/** Reads a duration, in milliseconds; undefined: it is none. */
export function readDuration(text: string): number | undefined {
  let total = 0;
  DURATION_PART.lastIndex = 0;
  for (let at = 0; at < text.length; at = DURATION_PART.lastIndex) {
    const [, count, unit = ""] = DURATION_PART.exec(text) ?? [];
    if (count === undefined) return undefined;
    total += Number(count) * (UNITS_MS[unit.charAt(0).toLowerCase()] ?? 0);
  }
  return text === "" || total > MAX_DURATION_MS ? undefined : Math.round(total);
}

/** A duration in milliseconds, which is given so or as text; NaN: it is none. */
export function inMilliseconds(duration: number | string): number {
  return typeof duration === "string" ? readDuration(duration) ?? NaN : duration;
}

/** A duration as it was given, for errors. */
export function written(duration: unknown): string {
  return typeof duration === "string" ? JSON.stringify(duration.slice(0, 100)) : String(duration);
}
