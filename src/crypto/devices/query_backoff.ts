/**
 * Users that should not be queried just now.
 *
 * @module
 */

import { serverOf } from "../../types/identifiers.ts";
import type { UserID } from "../../types/ids.ts";
import { Retries } from "../requests/requests.ts";

/** For users that the server does not know, and servers that it can't reach. */
const UNREACHABLE = { base: 15_000, cap: 900_000 };

/** For queries that failed. */
const FAILED = { base: 1_000, cap: 60_000 };

/** Remembers the outcome of earlier queries; in memory only. */
export class QueryBackoff {
  readonly #absent = new Retries<UserID>(UNREACHABLE);
  readonly #servers = new Retries<string>(UNREACHABLE);
  readonly #failed = new Retries<UserID>(FAILED);
  /**
   * Users of refused queries, with the size of their next query; 0: the server refused the user
   * alone.
   */
  readonly #refused = new Map<UserID, number>();

  /** Returns whether a user may be queried. */
  isReady(userId: UserID, now: number): boolean {
    return this.wait(userId, now) === 0;
  }

  /** Returns the wait of a user that is left, in milliseconds. */
  wait(userId: UserID, now: number): number {
    const own = Math.max(this.#absent.wait(userId, now), this.#failed.wait(userId, now));
    return Math.max(own, this.#servers.wait(serverOf(userId), now));
  }

  /** The size of the next query with a user; undefined: the usual one. */
  groupOf(userId: UserID): number | undefined {
    const group = this.#refused.get(userId);
    return group === undefined ? undefined : Math.max(1, group);
  }

  /** Returns whether the last query has shown that there is no point in waiting for a user's devices. */
  isVain(userId: UserID): boolean {
    return this.#absent.failures(userId) > 0 || this.#refused.get(userId) === 0 ||
      this.#servers.failures(serverOf(userId)) > 0;
  }

  /**
   * Notes that the server has answered about a user, even that there is no such user.
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

  /** Notes that the server does not know a user. */
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

  /**
   * Notes that a query has failed; `refused`: the number of users of a query that the server
   * refused.
   */
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
