/**
 * The one stream position that numbers everything a sync can contain, and the sleep of those
 * who wait for more.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { UserID } from "../../types/ids.ts";

/** Why a wait ends that is over: a reason that is made each time would note a stack. */
const OVER = new DOMException("The wait is over", "AbortError");

/** Counts changes and wakes who waits for them. */
export class Stream {
  #position = 1;
  readonly #clock: Clock;
  readonly #waiting = new Map<UserID, Set<() => void>>();

  /** Starts at position 1, so that 0 lies before everything. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The position of the latest change. */
  get position(): number {
    return this.#position;
  }

  /** Takes the next position, for a change that is about to be stored. */
  advance(): number {
    return ++this.#position;
  }

  /** Wakes the waiting syncs of `users`. Call it after the change is stored. */
  wake(users: Iterable<UserID>): void {
    for (const user of users) {
      const waiting = this.#waiting.get(user);
      if (waiting === undefined) continue;
      this.#waiting.delete(user);
      for (const resume of waiting) resume();
    }
  }

  /** Wakes everyone, when the homeserver shuts down. */
  wakeAll(): void {
    this.wake([...this.#waiting.keys()]);
  }

  /**
   * Sleeps until there is something for `user`, or until `ms` have passed. Rejects when `signal` is
   * aborted.
   */
  async wait(user: UserID, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(user) ?? new Set();
    waiting.add(resolve);
    this.#waiting.set(user, waiting);
    const timer = new AbortController();
    const timeout = this.#clock.delay(ms, { signal: AbortSignal.any([signal, timer.signal]) });
    try {
      await Promise.race([promise, timeout]);
    } finally {
      waiting.delete(resolve);
      timer.abort(OVER);
      // The promises that lost the race reject with the abort above, and are ignored.
      await timeout.catch(() => {});
    }
  }
}
