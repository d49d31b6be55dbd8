/**
 * How many invitations a bot takes: somebody may send thousands, and each is a room to join.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import { RecentUsers } from "./recent_users.ts";

/** How many invitations are taken in a time. */
export interface InviteLimit {
  /** How many of one user. */
  count: number;
  /** How many of all users together. */
  total: number;
  /** In which time, in milliseconds. */
  window: number;
}

const DEFAULT: InviteLimit = { count: 50, total: 500, window: 3_600_000 };
/** How many windows an invitation may have to wait. */
const MAX_WINDOWS = 10;

/** How many have their turn in a window, by its number. */
type Turns = Map<number, number>;

/** Gives invitations their turn: those of one user in order, and no more in a window than may be. */
export class InviteLimiter {
  readonly #limit: InviteLimit;
  readonly #all: Turns = new Map();
  readonly #users = new RecentUsers<{ readonly turns: Turns; toldIn?: number }>();

  /**
   * @param limit How many. Default: 50 of one user in an hour, 500 of all.
   * @throws {ValueError} If it lets none through.
   */
  constructor(limit: Partial<InviteLimit> = {}) {
    const { count, total, window } = this.#limit = { ...DEFAULT, ...limit };
    if (![count, total].every((each) => Number.isSafeInteger(each) && each >= 1) || !(window >= 1)) {
      throw new ValueError(
        "Cannot make a bot: inviteLimit needs count and total, whole numbers, and a window, of at least 1",
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

  /** Whether to say that invitations of a user are not taken: once in a window. */
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
