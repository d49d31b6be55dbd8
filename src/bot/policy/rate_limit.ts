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

/** What becomes of an update: `over`, it is the first of too many. */
export type Verdict = "handled" | "over" | "ignored";

/** How many users are remembered; the others begin anew. */
const MAX_USERS = 10_000;

/** Counts updates, by user. */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #users = new Map<string, { times: number[]; wasTold: boolean }>();

  /** @throws {ValueError} If the limit lets nothing through. */
  constructor(limit: RateLimit) {
    if (!(limit.count >= 1 && limit.window >= 1)) {
      throw new ValueError("Cannot make a bot: rateLimit needs a count and a window of at least 1");
    }
    this.#limit = limit;
  }

  /** Counts an update of a user. */
  take(user: string, now: number): Verdict {
    const { count, window } = this.#limit;
    const known = this.#users.get(user);
    const times = known?.times.filter((time) => now - time < window) ?? [];
    const isOver = times.length >= count;
    const wasTold = isOver && known?.wasTold === true;
    if (!isOver) times.push(now);
    this.#users.delete(user); // those who came last stay
    this.#users.set(user, { times, wasTold: isOver });
    const [oldest] = this.#users.keys();
    if (this.#users.size > MAX_USERS && oldest !== undefined) this.#users.delete(oldest);
    if (!isOver) return "handled";
    return wasTold ? "ignored" : "over";
  }
}
