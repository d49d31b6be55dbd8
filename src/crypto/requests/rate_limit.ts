/**
 * How often something may be done for someone.
 *
 * @module
 */

import { type Clock, elapsed } from "../../base/clock.ts";

export interface RateLimitOptions {
  /** How often one name may be used in one period. */
  readonly times: number;
  /** How long a period is, in milliseconds. */
  readonly periodMs: number;
  /** How many names are remembered; those that came first go first. Default: 1,000. */
  readonly names?: number;
}

/** The uses of a name since its period began. */
interface Period {
  readonly since: number;
  count: number;
  /** The uses by share. */
  readonly shares: Map<string, number>;
}

/**
 * Counts, in memory, how often each name was used. Where several share a name, none can use up the
 * parts of the others: a share below the equal part may always go on, which allows `times × (1 + ln
 * times)` uses at most.
 */
export class RateLimit {
  readonly #clock: Clock;
  readonly #options: Required<RateLimitOptions>;
  readonly #periods = new Map<string, Period>();

  /**
   * @param clock The wall clock.
   * @param options The limits.
   */
  constructor(clock: Clock, options: RateLimitOptions) {
    this.#clock = clock;
    this.#options = { names: 1_000, ...options };
  }

  /**
   * Whether it may be done once more; if so, it counts as done.
   *
   * @param name For what.
   * @param share The share of the name. Default: it is not shared.
   */
  take(name: string, share = ""): boolean {
    const now = this.#clock.now();
    const period = this.#periods.get(name);
    if (period === undefined || elapsed(now, period.since) >= this.#options.periodMs) {
      this.#periods.delete(name);
      this.#periods.set(name, { since: now, count: 1, shares: new Map([[share, 1]]) });
      this.#trim();
      return true;
    }
    const { shares } = period;
    const next = (shares.get(share) ?? 0) + 1;
    const sharers = shares.size + (shares.has(share) ? 0 : 1);
    const { times } = this.#options;
    if (period.count >= times && next * sharers > times) return false;
    period.count++;
    shares.set(share, next);
    return true;
  }

  #trim(): void {
    for (const name of this.#periods.keys()) {
      if (this.#periods.size <= this.#options.names) return;
      this.#periods.delete(name);
    }
  }
}
