/**
 * What has to wait before it is tried again.
 *
 * @module
 */

import { type BackoffRange, doubled } from "../../base/backoff.ts";
import { elapsed } from "../../base/clock.ts";

/** What did not work lately. */
interface Retry {
  /** How often it failed, one time after another. */
  readonly failures: number;
  /** When it failed last, in milliseconds since the epoch. */
  readonly since: number;
  /** How long it has to rest from then on, in milliseconds. */
  readonly ms: number;
}

/**
 * Remembers failures, in memory only: a new process may try at once. The wait doubles with each
 * failure.
 */
export class Retries<Name> {
  readonly #range: BackoffRange;
  readonly #most: number;
  readonly #retries = new Map<Name, Retry>();

  /**
   * @param range The first wait and the longest, in milliseconds.
   * @param most How much is remembered; what failed first goes first. Default: everything.
   */
  constructor(range: BackoffRange, most: number = Infinity) {
    this.#range = range;
    this.#most = most;
  }

  /** How often it failed since the last success. */
  failures(name: Name): number {
    return this.#retries.get(name)?.failures ?? 0;
  }

  /** Whether it may be tried: it did not fail, or has rested for long enough. */
  isOver(name: Name, now: number): boolean {
    const retry = this.#retries.get(name);
    return retry === undefined || elapsed(now, retry.since) >= retry.ms;
  }

  /** When it may be tried, if the clock is not set, in milliseconds since the epoch; 0: at once. */
  overAt(name: Name): number {
    const retry = this.#retries.get(name);
    return retry === undefined ? 0 : retry.since + retry.ms;
  }

  /** It failed, now. */
  failed(name: Name, now: number): void {
    const failures = this.failures(name);
    this.#retries.delete(name);
    this.#retries.set(name, { failures: failures + 1, since: now, ms: doubled(failures, this.#range) });
    if (this.#retries.size <= this.#most) return;
    for (const oldest of this.#retries.keys()) {
      this.#retries.delete(oldest);
      break;
    }
  }

  /** It worked, or something has happened that makes another try worthwhile. */
  forget(name: Name): void {
    this.#retries.delete(name);
  }

  /** Forgets everything. */
  clear(): void {
    this.#retries.clear();
  }
}
