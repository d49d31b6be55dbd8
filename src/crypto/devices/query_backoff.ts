/**
 * Of whom it is of no use to ask the server just now.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { Retries } from "../requests/retries.ts";

/** Users whom the server knows nothing of, and servers that it can't reach. */
const UNREACHABLE = { base: 15_000, cap: 900_000 };

/** Queries that came to nothing. */
const FAILED = { base: 1_000, cap: 60_000 };

/** Remembers what came of earlier queries; in memory only. */
export class QueryBackoff {
  readonly #absent = new Retries<UserID>(UNREACHABLE);
  readonly #servers = new Retries<string>(UNREACHABLE);
  readonly #failed = new Retries<UserID>(FAILED);
  /** Of whom the server refused to tell, and of how many it may be asked at once with them; 0: of that one alone, in vain. */
  readonly #refused = new Map<UserID, number>();

  /** Whether a user may be asked of. */
  isReady(userId: UserID, now: number): boolean {
    return this.#absent.isOver(userId, now) && this.#failed.isOver(userId, now) &&
      this.#servers.isOver(serverOf(userId), now);
  }

  /** When a user may be asked of, on a clock that is not set, in milliseconds since the epoch; 0: at once. */
  readyAt(userId: UserID): number {
    const own = Math.max(this.#absent.overAt(userId), this.#failed.overAt(userId));
    return Math.max(own, this.#servers.overAt(serverOf(userId)));
  }

  /** Of how many users the server may be asked at once, if this one is among them; undefined: as always. */
  groupOf(userId: UserID): number | undefined {
    const group = this.#refused.get(userId);
    return group === undefined ? undefined : Math.max(1, group);
  }

  /** Whether the last query has shown that there is no point in waiting for a user's devices. */
  isVain(userId: UserID): boolean {
    return this.#absent.failures(userId) > 0 || this.#refused.get(userId) === 0 ||
      this.#servers.failures(serverOf(userId)) > 0;
  }

  /**
   * The server has told of a user, if only that it knows nothing.
   *
   * @returns The user's server, if it was out of reach before.
   */
  recovered(userId: UserID): string | undefined {
    this.#failed.forget(userId);
    this.#refused.delete(userId);
    const server = serverOf(userId);
    if (this.#servers.failures(server) === 0) return undefined;
    this.#servers.forget(server);
    return server;
  }

  /** The server knows nothing of a user. */
  absent(userId: UserID, now: number): void {
    this.#absent.failed(userId, now);
  }

  /** A user's devices have changed, or are known: the user exists. */
  exists(userId: UserID): void {
    this.#absent.forget(userId);
  }

  /**
   * A user's server is out of reach.
   *
   * @returns That server.
   */
  unreachable(userId: UserID, now: number): string {
    const server = serverOf(userId);
    // One query may be about many users there, and is one failure.
    if (this.#servers.isOver(server, now)) this.#servers.failed(server, now);
    return server;
  }

  /** A query of some users has come to nothing; `refused`: of that number of users, with this one, the server won't tell. */
  failed(userId: UserID, { now, refused }: { now: number; refused: number | undefined }): void {
    this.#failed.failed(userId, now);
    if (refused !== undefined) {
      this.#refused.set(userId, refused === 1 ? 0 : Math.max(1, Math.floor(refused / 4)));
    }
  }

  /** Forgets a user, but not the user's server. */
  forget(userId: UserID): void {
    this.#absent.forget(userId);
    this.#failed.forget(userId);
    this.#refused.delete(userId);
  }

  /** Forgets everything. */
  clear(): void {
    this.#absent.clear();
    this.#servers.clear();
    this.#failed.clear();
    this.#refused.clear();
  }
}

/** The server of a user. */
export function serverOf(userId: UserID): string {
  return userId.slice(userId.indexOf(":") + 1);
}
