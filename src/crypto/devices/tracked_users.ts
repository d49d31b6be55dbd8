/**
 * Users whose device lists are tracked, and the queries that keep them up to date.
 *
 * Over 300 lines because everything that says when a user is asked about is here.
 *
 * @module
 */

import { isUserId, serverOf } from "../../types/identifiers.ts";
import type { UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { QueryBackoff } from "./query_backoff.ts";

/** A question to the server. */
export interface DeviceQuery {
  /** The users: at most 250. */
  readonly users: readonly UserID[];
  /** Distinguishes it from other queries, and from later changes. */
  readonly sequence: number;
  /** When it was begun, in milliseconds since the epoch. */
  readonly at: number;
}

/** The last change and the last query of a user, as sequence numbers: higher is later. */
interface Tracking {
  readonly changed: number;
  /** The number of the last query that was answered; 0: none. */
  readonly checked: number;
  /** Whether it is only looked up: the tracking ends with the next answer. */
  readonly isVisit?: true;
}

const MAX_USERS = 250;

/**
 * Keeps track of whose devices may have changed.
 *
 * Each change has a higher sequence number than everything before, and only the response to a query
 * that began later clears it. Memory changes immediately, and back if the step is aborted. No query
 * outlives the process, so that numbers need not be written as long as the user stays dirty.
 */
export class TrackedUsers {
  readonly #users = new Map<UserID, Tracking>();
  readonly #dirty = new Set<UserID>();
  /** Dirty users who have to be queried before anything is sent to them, if they can be now. */
  readonly #urgent = new Set<UserID>();
  /** Users who are only looked up. */
  readonly #visitors = new Set<UserID>();
  readonly #asked = new Map<UserID, number>();
  /** Users to query again without a known change; in memory only. */
  readonly #outdated = new Set<UserID>();
  /** When the last query was begun that was answered, in milliseconds since the epoch. */
  readonly #answered = new Map<UserID, number>();
  readonly #backoff = new QueryBackoff();
  #sequence = 0;
  /** Everything that was checked before this number is out of date. */
  #epoch = 0;
  #version = 0;

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    const memory = [this.#users, this.#asked, this.#outdated, this.#answered, this.#dirty, this.#urgent];
    for (const part of [...memory, this.#visitors, this.#backoff]) part.clear();
    const [epoch, tracked] = await Promise.all([tx.get(epochKey), tx.list<Tracking>("tracked")]);
    this.#sequence = this.#epoch = epoch ?? 0;
    for (const [[userId = ""], tracking] of tracked) {
      if (!isUserId(userId)) continue; // a damaged record: the server would refuse the whole query
      this.#users.set(userId, tracking);
      if (tracking.isVisit) this.#visitors.add(userId);
      this.#sequence = Math.max(this.#sequence, tracking.changed, tracking.checked);
    }
    for (const userId of this.#users.keys()) this.#refresh(userId);
  }

  /** Changes when a user becomes dirty for {@link isDirty}, is tracked, or not any more. */
  get version(): number {
    return this.#version;
  }

  /** Returns whether a user is tracked, or looked up. */
  has(userId: UserID): boolean {
    return this.#users.has(userId);
  }

  /** Returns whether a user is tracked: changes of the devices are then known of. */
  isFollowed(userId: UserID): boolean {
    return this.#users.has(userId) && !this.#visitors.has(userId);
  }

  /**
   * Begins to track users: members of encrypted rooms, and the own user. New ones are dirty; tracked users do
   * not change.
   */
  track(tx: Transaction, users: Iterable<UserID>): void {
    for (const userId of users) {
      // An invalid user ID has no devices, and would make the server refuse the whole query.
      if (!this.isFollowed(userId) && isUserId(userId)) this.#mark(tx, userId);
    }
  }

  /**
   * Looks a user up once: one who is tracked stays so, of one with whom no encrypted room is known to be
   * shared later changes are not followed. Of as many of those at a time as one query can be about; others
   * are not looked up.
   */
  lookUp(tx: Transaction, userId: UserID): void {
    if (this.#users.has(userId)) return this.changed(tx, [userId]);
    if (!isUserId(userId) || this.#visitors.size >= MAX_USERS) return;
    const tracking = { changed: ++this.#sequence, checked: 0, isVisit: true } as const;
    tx.set(trackedKey(userId), tracking);
    this.#set(tx, userId, tracking);
  }

  /** Returns whether a user is only looked up. */
  isVisitor(userId: UserID): boolean {
    return this.#visitors.has(userId);
  }

  /** Marks users whose devices may have changed; users that are not tracked are ignored. */
  changed(tx: Transaction, users: Iterable<UserID>): void {
    for (const userId of users) if (this.isFollowed(userId)) this.#mark(tx, userId);
  }

  /**
   * Ends the tracking of users; should they be tracked again, they begin as dirty.
   *
   * @returns The users who were tracked.
   */
  left(tx: Transaction, users: Iterable<UserID>): UserID[] {
    const left = [...users].filter((userId) => this.#users.has(userId));
    for (const userId of left) this.#forget(tx, userId);
    return left;
  }

  /** Marks all users but one, of whom is known what was known before. */
  invalidateOthers(tx: Transaction, userId: UserID): void {
    const wasBehind = this.isBehind(userId);
    this.invalidateAll(tx);
    if (!wasBehind) this.#checked(tx, userId, this.#epoch);
  }

  /** Marks all users: changes may have been missed. */
  invalidateAll(tx: Transaction): void {
    const before = this.#epoch;
    this.#epoch = ++this.#sequence;
    tx.set(epochKey, this.#epoch);
    tx.leadsToRequest = true;
    tx.onAbort(() => {
      this.#epoch = before;
      for (const userId of this.#users.keys()) this.#refresh(userId);
    });
    for (const userId of this.#users.keys()) this.#refresh(userId);
  }

  /**
   * Makes users dirty who were queried before a time: later changes are not announced.
   *
   * @returns The earliest time at which the others were queried.
   */
  outdate(users: Iterable<UserID>, { since, now }: { since: number; now: number }): number {
    let earliest = now;
    for (const userId of users) {
      const at = this.#answered.get(userId) ?? -Infinity;
      if (at >= since && at <= now) earliest = Math.min(earliest, at);
      else if (this.#users.has(userId)) {
        this.#outdated.add(userId);
        this.#refresh(userId);
      }
    }
    return earliest;
  }

  /** Returns whether a user may have changed since the last answer, or is not tracked. */
  isBehind(userId: UserID): boolean {
    const tracking = this.#users.get(userId);
    return tracking === undefined || this.#isBehind(tracking);
  }

  /**
   * Returns whether a user is followed, and nothing has been announced since the server was asked about
   * them.
   */
  isUpToDate(userId: UserID): boolean {
    return this.isFollowed(userId) && !this.isBehind(userId);
  }

  /**
   * Returns whether the devices of any of the users have to be queried before encrypting for them.
   *
   * Users who are not tracked don't count, nor do those that the server does not know or whose
   * server it can't reach: they are queried again later.
   */
  isDirty(users: Iterable<UserID>): boolean {
    if (this.#urgent.size === 0) return false;
    for (const userId of users) if (this.#urgent.has(userId)) return true;
    return false;
  }

  /**
   * Returns the question to ask the server now: of at most 250 users, of each in one query at a time.
   *
   * @param now The time, in milliseconds since the epoch.
   * @returns The query, which ends for each user with {@link answered}, {@link absent} or
   *   {@link unreachable}, or for all with {@link failed}; undefined: none.
   */
  nextQuery(now: number): DeviceQuery | undefined {
    const users: UserID[] = [];
    let limit = MAX_USERS;
    for (const userId of this.#dirty) {
      if (users.length >= limit) break;
      if (this.#asked.has(userId) || !this.#backoff.isReady(userId, now)) continue;
      const own = this.#backoff.groupOf(userId) ?? MAX_USERS;
      if (users.length >= own) continue;
      users.push(userId);
      limit = Math.min(limit, own);
    }
    if (users.length === 0) return undefined;
    const sequence = ++this.#sequence;
    for (const userId of users) this.#asked.set(userId, sequence);
    return { users, sequence, at: now };
  }

  /** In how many milliseconds a waiting user may be queried; infinity: none waits. */
  nextIn(now: number): number {
    let next = Infinity;
    for (const userId of this.#dirty) {
      if (!this.#asked.has(userId)) next = Math.min(next, this.#backoff.wait(userId, now));
    }
    return next;
  }

  /** The users of a query that are still part of it. */
  asked({ users, sequence }: DeviceQuery): UserID[] {
    return users.filter((userId) => this.#asked.get(userId) === sequence);
  }

  /** Receives the answer about a user. */
  answered(tx: Transaction, userId: UserID, { sequence, at }: DeviceQuery): void {
    this.#ends(tx, userId);
    tx.onCommit(() => {
      this.#recovered(userId);
      if (!this.#users.has(userId)) return; // a visitor
      this.#backoff.exists(userId);
      this.#outdated.delete(userId);
      this.#answered.set(userId, at);
      this.#refresh(userId);
    });
    this.#checked(tx, userId, sequence);
  }

  /** Notes that the server does not know a user: it is asked again later. */
  absent(tx: Transaction, userId: UserID, { query, now }: { query: DeviceQuery; now: number }): void {
    this.#ends(tx, userId);
    tx.onCommit(() => {
      this.#recovered(userId);
      const tracking = this.#users.get(userId);
      if (tracking !== undefined && tracking.changed <= query.sequence) this.#backoff.absent(userId, now);
      this.#refresh(userId);
    });
  }

  /** Notes that a user's server could not be reached: its users are not queried for a while. */
  unreachable(tx: Transaction, userId: UserID, now: number): void {
    this.#ends(tx, userId);
    tx.onCommit(() => {
      this.#refreshServer(this.#backoff.unreachable(userId, now));
    });
  }

  /**
   * Gives up a query: its users stay dirty and are queried again after a growing delay.
   *
   * @param options.now The time, in milliseconds since the epoch.
   * @param options.refused Whether the server refused the query as such, and would again: its users are then
   *   queried in smaller groups, until those at fault are alone; those are not waited for any more.
   *   Default: false.
   * @param options.again Whether they may be queried again without a delay. Default: false.
   */
  failed(
    query: DeviceQuery,
    { now, refused = false, again = false }: { now: number; refused?: boolean; again?: boolean },
  ): void {
    for (const userId of this.asked(query)) {
      this.#asked.delete(userId);
      if (!again) {
        this.#backoff.failed(userId, { now, refused: refused ? query.users.length : undefined });
      }
      this.#refresh(userId);
    }
  }

  #mark(tx: Transaction, userId: UserID): void {
    const before = this.#users.get(userId);
    const next = { changed: ++this.#sequence, checked: before?.checked ?? 0 };
    const isWritten = before !== undefined && !before.isVisit && this.#isBehind(before);
    if (!isWritten) tx.set(trackedKey(userId), next);
    this.#backoff.exists(userId);
    this.#set(tx, userId, next);
  }

  #checked(tx: Transaction, userId: UserID, sequence: number): void {
    const tracking = this.#users.get(userId);
    if (tracking === undefined) return;
    const next = { ...tracking, checked: sequence };
    this.#set(tx, userId, next);
    tx.set(trackedKey(userId), next);
  }

  #set(tx: Transaction, userId: UserID, tracking: Tracking | undefined): void {
    const before = this.#users.get(userId);
    this.#put(userId, tracking);
    tx.leadsToRequest = true;
    tx.onAbort(() => this.#put(userId, before));
  }

  #put(userId: UserID, tracking: Tracking | undefined): void {
    if ((tracking === undefined) === this.#users.has(userId)) this.#version++;
    if (tracking?.isVisit) this.#visitors.add(userId);
    else this.#visitors.delete(userId);
    if (tracking !== undefined) this.#users.set(userId, tracking);
    else {
      this.#users.delete(userId);
      this.#outdated.delete(userId);
      this.#answered.delete(userId);
      this.#backoff.forget(userId);
    }
    this.#refresh(userId);
  }

  #ends(tx: Transaction, userId: UserID): void {
    const sequence = this.#asked.get(userId);
    this.#asked.delete(userId);
    tx.onAbort(() => {
      if (sequence !== undefined) this.#asked.set(userId, sequence);
    });
    if (this.isVisitor(userId)) this.#forget(tx, userId);
  }

  #forget(tx: Transaction, userId: UserID): void {
    this.#set(tx, userId, undefined);
    tx.delete(trackedKey(userId));
  }

  /** Notes that the server answers about a user again, even if it does not know the user. */
  #recovered(userId: UserID): void {
    const server = this.#backoff.recovered(userId);
    if (server !== undefined) this.#refreshServer(server);
  }

  #refreshServer(server: string): void {
    for (const userId of [...this.#dirty]) if (serverOf(userId) === server) this.#refresh(userId);
  }

  #isBehind({ changed, checked }: Tracking): boolean {
    return checked < changed || checked < this.#epoch;
  }

  #refresh(userId: UserID): void {
    const tracking = this.#users.get(userId);
    if (tracking === undefined || !(this.#isBehind(tracking) || this.#outdated.has(userId))) {
      this.#dirty.delete(userId);
      this.#urgent.delete(userId);
      return;
    }
    this.#dirty.add(userId);
    const urgent = this.#urgent.has(userId);
    if (this.#backoff.isVain(userId)) this.#urgent.delete(userId);
    else this.#urgent.add(userId);
    if (!urgent && this.#urgent.has(userId)) this.#version++;
  }
}

const epochKey: RecordKey<number> = recordKey("deviceListEpoch");

function trackedKey(userId: UserID): RecordKey<Tracking> {
  return recordKey("tracked", userId);
}
