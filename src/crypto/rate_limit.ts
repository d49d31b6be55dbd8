/**
 * How often something may be done for someone.
 *
 * @module
 */

import type { Clock } from "../clock.ts";
import { elapsed } from "../elapsed.ts";

/** What is allowed. */
export interface RateLimitOptions {
  /** How often it may be done for one name in one period. */
  readonly times: number;
  /** How long a period is, in milliseconds. */
  readonly periodMs: number;
  /** How many names are remembered; those that came first go first. Default: 1,000. */
  readonly names?: number;
}

/** Counts, in memory, how often something was done for each name. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #options: Required<RateLimitOptions>;
  readonly #periods = new Map<string, { since: number; count: number }>();

  /**
   * @param clock The wall clock.
   * @param options What is allowed.
   */
  constructor(clock: Clock, options: RateLimitOptions) {
    this.#clock = clock;
    this.#options = { names: 1_000, ...options };
  }

  /** Whether it may be done once more; if so, it counts as done. */
  take(name: string): boolean {
    const now = this.#clock.now();
    const period = this.#periods.get(name);
    if (period === undefined || elapsed(now, period.since) >= this.#options.periodMs) {
      this.#periods.delete(name);
      this.#periods.set(name, { since: now, count: 1 });
      this.#trim();
      return true;
    }
    if (period.count >= this.#options.times) return false;
    period.count++;
    return true;
  }

  #trim(): void {
    for (const name of this.#periods.keys()) {
      if (this.#periods.size <= this.#options.names) return;
      this.#periods.delete(name);
    }
  }
}
