/**
 * How much a bot takes from one user.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { inMilliseconds, written } from "../../base/clock.ts";
import { RecentMap } from "../../base/recent_map.ts";

/** How many updates of a user are handled that were sent in a time. */
export interface RateLimit {
  /** The most updates of a user that are handled in `window`. */
  count: number;
  /** The time in which they are counted: like `10s`, or in milliseconds. */
  window: number | string;
}

/** A limit whose time is in milliseconds. */
type Measured<Limit extends { window: number | string }> = Omit<Limit, "window"> & {
  readonly window: number;
};

/** How many users are remembered; the others begin anew. */
const MAX_USERS = 10_000;

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

/** How many windows pass until the bot tells a user again. */
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
  readonly #limit: Measured<RateLimit>;
  readonly #users = new RecentMap<string, Taken>(MAX_USERS);

  /** @throws {ValueError} If the limit lets nothing through. */
  constructor(limit: RateLimit) {
    const window = inMilliseconds(limit.window);
    if (!(Number.isSafeInteger(limit.count) && limit.count >= 1 && window >= 1)) {
      throw new ValueError(
        `Cannot make a bot: rateLimit needs a count, a whole number of at least 1, and is ${limit.count}; and a ` +
          `window like "10m", or in milliseconds, and is ${written(limit.window)}`,
      );
    }
    this.#limit = { ...limit, window };
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

  /** Returns whether to tell a user of it, who is not told again for a while. */
  tells(user: string, now: number): boolean {
    const known = this.#users.get(user);
    if (known === undefined || now - known.toldAt < this.#limit.window * PAUSE) return false;
    known.toldAt = now;
    return true;
  }

  /** Returns whether no window has more than may be once there is one more. */
  #hasRoom(times: readonly number[], time: number): boolean {
    const { count, window } = this.#limit;
    const sorted = Float64Array.of(...times, time).sort();
    return sorted.every((first, index) => (sorted[index + count] ?? Infinity) - first >= window);
  }
}

/** How many invitations are taken in a time. */
export interface InviteLimit {
  /** The most invitations from one user within the window. */
  count: number;
  /** How many of all users together. */
  total: number;
  /** The length of the window: like `1h`, or in milliseconds. */
  window: number | string;
}

const DEFAULT = { count: 50, total: 500, window: 3_600_000 };
/** How many windows an invitation may have to wait. */
const MAX_WINDOWS = 10;

/** How many have their turn in a window, by its number. */
type Turns = Map<number, number>;

/** Gives invitations their turn: those of one user in order, and no more in a window than may be. */
export class InviteLimiter {
  readonly #limit: Measured<InviteLimit>;
  readonly #all: Turns = new Map();
  readonly #users = new RecentMap<string, { readonly turns: Turns; toldIn?: number }>(MAX_USERS);

  /**
   * @param limit The most invitations that are taken. Default: 50 of one user in an hour, 500 of all.
   * @throws {ValueError} If it lets none through.
   */
  constructor(limit: Partial<InviteLimit> = {}) {
    const { count = DEFAULT.count, total = DEFAULT.total } = limit;
    const window = inMilliseconds(limit.window ?? DEFAULT.window);
    this.#limit = { count, total, window };
    if (![count, total].every((each) => Number.isSafeInteger(each) && each >= 1) || !(window >= 1)) {
      throw new ValueError(
        `Cannot make a bot: inviteLimit needs count and total, whole numbers of at least 1, and they are ${count} ` +
          `and ${total}; and a window like "10m", or in milliseconds, and is ${
            written(limit.window ?? DEFAULT.window)
          }`,
      );
    }
  }

  /**
   * Takes an invitation.
   *
   * @returns When it has its turn, in milliseconds since the epoch; undefined: never, too many wait.
   */
  take(user: string, now: number): number | undefined {
    const { count, total, window } = this.#limit;
    const current = Math.floor(now / window);
    const { turns } = this.#of(user);
    for (const each of [turns, this.#all]) forget(each, current);
    for (let at = current; at <= current + MAX_WINDOWS; at++) {
      const [own, all] = [turns.get(at) ?? 0, this.#all.get(at) ?? 0];
      if (own >= count || all >= total) continue;
      turns.set(at, own + 1);
      this.#all.set(at, all + 1);
      return at === current ? now : at * window;
    }
    return undefined;
  }

  /** Returns whether to say that invitations of a user are not taken: once in a window. */
  tells(user: string, now: number): boolean {
    const known = this.#of(user);
    const current = Math.floor(now / this.#limit.window);
    const tells = known.toldIn !== current;
    known.toldIn = current;
    return tells;
  }

  #of(user: string): { readonly turns: Turns; toldIn?: number } {
    const known = this.#users.get(user) ?? { turns: new Map() };
    this.#users.set(user, known);
    return known;
  }
}

function forget(turns: Turns, current: number): void {
  for (const at of turns.keys()) if (at < current || at > current + MAX_WINDOWS) turns.delete(at);
}
