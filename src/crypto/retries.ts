/**
 * Who has to wait until the next try.
 *
 * @module
 */

import type { BackoffRange } from "../backoff.ts";

/** What did not work lately, and when it is to be tried again. */
export interface Retry {
  /** How often it failed, one time after another. */
  readonly failures: number;
  /** When it may be tried again, in milliseconds since the epoch. */
  readonly at: number;
}

/** Remembers what failed; the delay doubles from failure to failure. */
export class Retries<Name> {
  readonly #range: BackoffRange;
  readonly #retries = new Map<Name, Retry>();

  /** @param range The first delay and the longest, in milliseconds. */
  constructor(range: BackoffRange) {
    this.#range = range;
  }

  /** What is known of a failure; undefined: there was none since the last success. */
  get(name: Name): Retry | undefined {
    return this.#retries.get(name);
  }

  /** It failed, now. */
  failed(name: Name, now: number): void {
    const failures = (this.#retries.get(name)?.failures ?? 0) + 1;
    const { base, cap } = this.#range;
    this.#retries.set(name, { failures, at: now + Math.min(cap, base * 2 ** (failures - 1)) });
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
