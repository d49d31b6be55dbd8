/**
 * How much a bot takes from one user.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";

/** How many updates of a user are handled in a time. */
export interface RateLimit {
  /** How many. */
  count: number;
  /** In which time, in milliseconds. */
  window: number;
}

/** How many users are remembered; the others begin anew. */
const MAX_USERS = 10_000;
/** How many windows pass until a user is told again. */
const PAUSE = 10;

/** Counts updates, by user. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #users = new Map<string, { times: number[]; toldAt: number }>();

  /** @throws {ValueError} If the limit lets nothing through. */
  constructor(limit: RateLimit) {
    if (!(limit.count >= 1 && limit.window >= 1)) {
      throw new ValueError("Cannot make a bot: rateLimit needs a count and a window of at least 1");
    }
    this.#limit = limit;
  }

  /**
   * Counts an update of a user.
   *
   * @returns Whether it is taken.
   */
  take(user: string, now: number): boolean {
    const { count, window } = this.#limit;
    const { times: known = [], toldAt = -Infinity } = this.#users.get(user) ?? {};
    const times = known.filter((time) => now - time < window);
    const isTaken = times.length < count;
    if (isTaken) times.push(now);
    this.#users.delete(user); // those who came last stay
    this.#users.set(user, { times, toldAt });
    const [oldest] = this.#users.keys();
    if (this.#users.size > MAX_USERS && oldest !== undefined) this.#users.delete(oldest);
    return isTaken;
  }

  /** Whether to tell a user of it, who is not told again for a while. */
  tells(user: string, now: number): boolean {
    const known = this.#users.get(user);
    if (known === undefined || now - known.toldAt < this.#limit.window * PAUSE) return false;
    known.toldAt = now;
    return true;
  }
}
