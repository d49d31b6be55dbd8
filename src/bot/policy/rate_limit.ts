/**
 * How much a bot takes from one user.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { RecentUsers } from "./recent_users.ts";

/** How many updates of a user are handled that were sent in a time. */
export interface RateLimit {
  /** How many. */
  count: number;
  /** In which time, in milliseconds. */
  window: number;
}

/** What is remembered of a user. */
interface Taken {
  /** When the latest that were taken had been sent, in the order in which they came. */
  readonly times: readonly number[];
  /** How many more may be taken now, whenever they say that they were sent. */
  readonly left: number;
  /** When that was so. */
  readonly at: number;
  /** When the user was told last. */
  toldAt: number;
}

/** How many windows pass until a user is told again. */
const PAUSE = 10;
/**
 * How many updates are taken at once beside those of a window. Times are what servers say: with one
 * that lies, a flood would look like what was said while the bot was away. A gap of a room is filled
 * with as many.
 */
const BACKLOG = 1_000;

/**
 * Counts updates, by user and by when they were sent: what was said slowly while the bot was away
 * comes at once, and is no flood. Rooms come one after the other, and what is decrypted late comes
 * later, so times may go back.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #users = new RecentUsers<Taken>();

  /** @throws {ValueError} If the limit lets nothing through. */
  constructor(limit: RateLimit) {
    if (!(Number.isSafeInteger(limit.count) && limit.count >= 1 && limit.window >= 1)) {
      throw new ValueError(
        "Cannot make a bot: rateLimit needs a count, a whole number, and a window of at least 1",
      );
    }
    this.#limit = limit;
  }

  /**
   * Counts an update of a user.
   *
   * @param sentAt When it was sent, as its server says; now, if that is in the future.
   * @returns Whether it is taken.
   */
  take(user: string, sentAt: number, now: number): boolean {
    const { count, window } = this.#limit;
    const most = count + BACKLOG;
    const { times, left, at, toldAt } = this.#users.get(user) ??
      { times: [], left: most, at: now, toldAt: -Infinity };
    const mayBeTaken = Math.min(most, left + Math.max(0, now - at) * count / window);
    const time = Math.min(Number.isFinite(sentAt) ? sentAt : now, now);
    const isTaken = mayBeTaken >= 1 && this.#hasRoom(times, time);
    this.#users.set(user, {
      times: isTaken ? [...times.slice(1 - 2 * count), time] : times, // two rooms side by side
      left: isTaken ? mayBeTaken - 1 : mayBeTaken,
      at: now,
      toldAt,
    });
    return isTaken;
  }

  /** Whether to tell a user of it, who is not told again for a while. */
  tells(user: string, now: number): boolean {
    const known = this.#users.get(user);
    if (known === undefined || now - known.toldAt < this.#limit.window * PAUSE) return false;
    known.toldAt = now;
    return true;
  }

  /** Whether no window has more than may be once there is one more. */
  #hasRoom(times: readonly number[], time: number): boolean {
    const { count, window } = this.#limit;
    const near = times.filter((each) => Math.abs(each - time) < window);
    if (near.length < count) return true;
    const sorted = [...near, time].sort((one, other) => one - other);
    return sorted.every((first, index) => (sorted[index + count] ?? Infinity) - first >= window);
  }
}
