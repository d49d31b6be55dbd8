/**
 * A clock that is set forward by hand, in one leap.
 *
 * `TestClock` lets everything settle between one timer and the next, which would be most of what a
 * fuzz run does.
 *
 * @module
 */

import type { Clock } from "../../src/base/clock.ts";

interface Timer {
  readonly due: number;
  readonly ring: () => void;
}

/** A clock for many leaps. */
export class FuzzClock implements Clock {
  readonly #timers = new Set<Timer>();
  #now: number;

  /** @param start When it begins, in milliseconds since the epoch. */
  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  delay(ms: number, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => {
      this.#timers.delete(timer);
      reject(signal?.reason);
    };
    const ring = (): void => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const timer = { due: this.#now + Math.max(0, ms), ring };
    signal?.addEventListener("abort", abort, { once: true });
    this.#timers.add(timer);
    return promise;
  }

  /** Moves, and ends the waits that are due by then. */
  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.due > this.#now) continue;
      this.#timers.delete(timer);
      timer.ring();
    }
  }
}
