/**
 * Failures that have to wait before they are tried again, those for which the server is not at fault,
 * and how often something may be done for someone.
 *
 * @module
 */

import { type BackoffRange, type Clock, doubled, elapsed } from "../../base/clock.ts";

/** The failures of one thing since it last worked. */
interface Retry {
  /** How often it failed, one time after another. */
  readonly failures: number;
  /** When it failed last, in milliseconds since the epoch. */
  readonly since: number;
  /** How long it has to wait from then on, in milliseconds. */
  readonly ms: number;
}

/**
 * Keeps failures, in memory only: a new process may try immediately. The wait doubles with each
 * failure.
 */
export class Retries<Name> {
  readonly #range: BackoffRange;
  readonly #most: number;
  readonly #retries = new Map<Name, Retry>();

  /**
   * @param range The first wait and the longest, in milliseconds.
   * @param most How many are kept; the oldest goes first. Default: all.
   */
  constructor(range: BackoffRange, most: number = Infinity) {
    this.#range = range;
    this.#most = most;
  }

  /** Counts the failures since the last success. */
  failures(name: Name): number {
    return this.#retries.get(name)?.failures ?? 0;
  }

  /** Returns whether it may be tried: it did not fail, or has waited for long enough. */
  isOver(name: Name, now: number): boolean {
    return this.wait(name, now) === 0;
  }

  /** Returns the wait that is left, in milliseconds; 0: it may be tried. */
  wait(name: Name, now: number): number {
    const { since, ms } = this.#retries.get(name) ?? { since: now, ms: 0 };
    return Math.max(ms - elapsed(now, since), 0);
  }

  /** Notes that it failed. */
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

  /** Ends its wait; if it fails again, the next one is as long as it would have been. */
  endWait(name: Name): void {
    const retry = this.#retries.get(name);
    if (retry !== undefined) this.#retries.set(name, { ...retry, ms: 0 });
  }

  /** Notes that it worked, or that something has happened that makes another try worthwhile. */
  forget(name: Name): void {
    this.#retries.delete(name);
  }

  /** Forgets everything. */
  clear(): void {
    this.#retries.clear();
  }
}

/** How often the server has answered, whatever it was asked. */
export interface ServerSigns {
  answers: number;
}

/** After so many failures a thing is at fault, and not the server: some minutes of a client that syncs. */
const PATIENCE = 5;

/** Counts failures between which the server has answered something else. */
export class LoneFailures {
  readonly #server: ServerSigns;
  readonly #failures = new Map<string, { readonly count: number; readonly answers: number }>();

  /** @param server How often the server has answered. */
  constructor(server: ServerSigns) {
    this.#server = server;
  }

  /** Notes that the server has failed over something; returns whether that is at fault. */
  failed(name: string): boolean {
    const { answers } = this.#server;
    const before = this.#failures.get(name);
    const count = before === undefined ? 1 : before.count + (answers > before.answers ? 1 : 0);
    this.#failures.set(name, { count, answers });
    return count >= PATIENCE;
  }

  /** Notes that it worked, or is not tried any more. */
  forget(name: string): void {
    this.#failures.delete(name);
  }
}

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
   * Returns whether it may be done once more; if so, it counts as done.
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

/** Two limits: how often each name may be used, and how often all of them together. */
export class SharedRateLimit {
  readonly #each: RateLimit;
  readonly #all: RateLimit;

  /**
   * @param clock The wall clock.
   * @param each The limits of each name.
   * @param timesInAll How often names may be used in a period of the same length.
   */
  constructor(clock: Clock, each: RateLimitOptions, timesInAll: number) {
    this.#each = new RateLimit(clock, each);
    this.#all = new RateLimit(clock, { times: timesInAll, periodMs: each.periodMs });
  }

  /**
   * Returns whether it may be done once more; if so, it counts as done.
   *
   * @param name For what.
   * @param share The share of the name. Default: it is not shared.
   * @param shareInAll The share of all that is done. Default: that of the name.
   */
  take(name: string, share = "", shareInAll = share): boolean {
    return this.#each.take(name, share) && this.#all.take("", shareInAll);
  }
}
