/**
 * A clock that stands still until a test moves it.
 *
 * @module
 */

import { type Clock, type DelayOptions, inMilliseconds } from "../base/clock.ts";
import { pause } from "../base/runs.ts";
import { ValueError } from "../errors/matrix_error.ts";

interface Timer {
  readonly due: number;
  readonly sequence: number;
  readonly fire: () => void;
}

/**
 * A {@link Clock} moved by hand: nothing that waits on it goes on before {@link TestClock.tick}
 * reaches its time.
 *
 * @example
 * ```ts
 * import { TestClock } from "@greenroom/matrix/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const clock = new TestClock();
 * let rang = false;
 * const alarm = clock.delay(60_000).then(() => rang = true);
 * await clock.tick(59_999);
 * assertEquals(rang, false);
 * await clock.tick(1);
 * assertEquals(rang, true);
 * await alarm;
 * ```
 */
export class TestClock implements Clock {
  #now: number;
  #sequence = 0;
  readonly #timers = new Set<Timer>();

  /**
   * Makes a clock that stands at `start`.
   *
   * @param start Milliseconds since the epoch. Defaults to the start of the year 2025.
   */
  constructor(start: number = Date.UTC(2025, 0, 1)) {
    this.#now = start;
  }

  /** How many waits are pending. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Returns the time of this clock, in milliseconds since the epoch.
   *
   * @example
   * ```ts
   * import { TestClock } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const clock = new TestClock(0);
   * await clock.tick(1_000);
   * assertEquals(clock.now(), 1_000);
   * ```
   */
  now(): number {
    return this.#now;
  }

  /**
   * Waits until the clock was moved on by a time. Without time it resolves at once.
   *
   * @param ms How long, in milliseconds of this clock.
   * @param options What ends the wait early.
   * @param options.signal Ends the wait: the promise rejects with the signal's reason.
   *
   * @example
   * ```ts
   * import { TestClock } from "@greenroom/matrix/testing";
   *
   * const clock = new TestClock();
   * const waiting = clock.delay(60_000);
   * await clock.tick(60_000);
   * await waiting;
   * ```
   */
  delay(ms: number, options: DelayOptions = {}): Promise<void> {
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (!(ms > 0)) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => {
      this.#timers.delete(timer);
      reject(signal?.reason);
    };
    const timer: Timer = {
      due: this.#now + ms,
      sequence: this.#sequence++,
      fire: () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      },
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#timers.add(timer);
    return promise;
  }

  /**
   * Moves the clock on, and ends waits whose time has come, in the order of their times. What a wait
   * has woken runs until it waits again, before the next wait ends: so waits that begin within the
   * span end in the same call.
   *
   * @param time How far: like `1h30m`, or in milliseconds. Default: 0, which only lets run what is ready.
   *   Below 0, it is set back.
   * @throws {ValueError} If that is no time.
   *
   * @example
   * ```ts
   * import { TestClock } from "@greenroom/matrix/testing";
   * import { assertEquals } from "@std/assert";
   *
   * const clock = new TestClock(0);
   * const later = clock.delay(10).then(() => clock.delay(10)).then(() => clock.now());
   * await clock.tick(30);
   * assertEquals(await later, 20);
   * ```
   */
  async tick(time: number | string = 0): Promise<void> {
    const ms = inMilliseconds(time);
    if (!Number.isFinite(ms)) {
      throw new ValueError(
        `Cannot move the clock by ${time}: give a number of milliseconds, or a text like "1h30m"`,
      );
    }
    const end = this.#now + ms;
    await settle();
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer);
      this.#now = timer.due;
      timer.fire();
      await settle();
    }
    this.#now = end;
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due > end) continue;
      if (
        next === undefined || timer.due < next.due ||
        (timer.due === next.due && timer.sequence < next.sequence)
      ) {
        next = timer;
      }
    }
    return next;
  }
}

/**
 * Lets everything that can run without time passing run: promise jobs, the tasks that body streams
 * post, and what waits for the event loop to come round. A message channel is a task source that no
 * sanitizer counts and no fake timer replaces.
 */
async function settle(): Promise<void> {
  for (let round = 0; round < 8; round++) {
    const { port1, port2 } = new MessageChannel();
    const { promise, resolve } = Promise.withResolvers<void>();
    port1.onmessage = () => resolve();
    port2.postMessage(null);
    await promise;
    port1.close();
    port2.close();
    await pause();
  }
}
