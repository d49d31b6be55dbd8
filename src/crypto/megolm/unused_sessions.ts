/**
 * Lists of sessions: those without a message of the key's sender, and those that are to be backed up.
 *
 * Any device can send keys, and one sender must not fill the disk. For the backup there are marks
 * only while one is in use, each written in one commit with its key; all that was there before is
 * found by going through the sessions once.
 *
 * @module
 */

import type { RoomID, UserID } from "../../types/ids.ts";
import {
  type RecordKey,
  recordKey,
  type Transaction,
  UNUSED_IN_ALL,
  UNUSED_OF_USER,
} from "../records/mod.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";

/** A claim of a user that has to be removed. */
export interface Evicted extends MegolmSessionRef {
  readonly userId: UserID;
}

/** Where a session is among those of its sender that wait. */
export interface UnusedPlace {
  /** The sender. */
  readonly userId: UserID;
  readonly number: number;
}

/** The sessions of a sender that wait: they are numbered as they came. */
interface UnusedList {
  /** No number below is in use. */
  readonly first: number;
  readonly next: number;
  readonly count: number;
}

/** How many sessions may wait. */
export interface UnusedLimits {
  readonly ofUser: number;
  readonly inAll: number;
}

const LIMITS: UnusedLimits = { ofUser: UNUSED_OF_USER, inAll: UNUSED_IN_ALL };
const NONE: UnusedList = { first: 0, next: 0, count: 0 };
const LIST_KIND = "inbound_unused";
/** How many places are examined together, to find the oldest session. */
const AT_ONCE = 64;

/**
 * Counts how many sessions of each sender wait for their first message, in their order; the records
 * name them.
 */
export class UnusedSessions {
  readonly #limits: UnusedLimits;
  readonly #lists = new Map<UserID, UnusedList>();
  #total = 0;
  #loaded = false;

  /** @param limits How many may wait. */
  constructor(limits: UnusedLimits = LIMITS) {
    this.#limits = limits;
  }

  /** Reads what an earlier process has left; done by itself at the first use. */
  async load(tx: Transaction): Promise<void> {
    this.#lists.clear();
    this.#total = 0;
    for (const [[userId = ""], list] of await tx.list<UnusedList>(LIST_KIND)) {
      this.#keep(userId as UserID, list); // it was written under a user ID
    }
    this.#loaded = true;
  }

  /**
   * Adds a new session.
   *
   * @returns Where it is, to be given to {@link used}, and the sessions that have to go for it.
   */
  async add(
    tx: Transaction,
    userId: UserID,
    session: MegolmSessionRef,
  ): Promise<{ readonly place: UnusedPlace; readonly evicted: readonly Evicted[] }> {
    if (!this.#loaded) await this.load(tx);
    const list = this.#lists.get(userId) ?? NONE;
    const place = { userId, number: list.next };
    tx.set(entryKey(place), { roomId: session.roomId, sessionId: session.sessionId });
    this.#put(tx, userId, { ...list, next: list.next + 1, count: list.count + 1 });
    const evicted: Evicted[] = [];
    for (let from = this.#tooMany(userId); from !== undefined; from = this.#tooMany(userId)) {
      const oldest = await this.#takeOldest(tx, from);
      if (oldest !== undefined) evicted.push({ ...oldest, userId: from });
    }
    return { place, evicted };
  }

  /** Removes a session that has got its first message. */
  async used(tx: Transaction, place: UnusedPlace): Promise<void> {
    if (!this.#loaded) await this.load(tx);
    const list = this.#lists.get(place.userId);
    tx.delete(entryKey(place));
    if (list !== undefined) this.#put(tx, place.userId, { ...list, count: list.count - 1 });
  }

  /** The user whose oldest session has to be evicted, if any. */
  #tooMany(userId: UserID): UserID | undefined {
    if ((this.#lists.get(userId)?.count ?? 0) > this.#limits.ofUser) return userId;
    if (this.#total <= this.#limits.inAll) return undefined;
    let largest: [userId: UserID, count: number] | undefined;
    for (const [each, { count }] of this.#lists) {
      if (largest === undefined || count > largest[1]) largest = [each, count];
    }
    return largest?.[0];
  }

  async #takeOldest(tx: Transaction, userId: UserID): Promise<MegolmSessionRef | undefined> {
    const list = this.#lists.get(userId) ?? NONE;
    for (let first = list.first; first < list.next; first += AT_ONCE) {
      const places = Array.from({ length: Math.min(AT_ONCE, list.next - first) }, (_, index) => {
        return { userId, number: first + index };
      });
      const sessions = await tx.getMany(places.map(entryKey));
      const index = sessions.findIndex((session) => session !== undefined);
      const place = places[index];
      if (place === undefined) continue; // those have got their messages
      tx.delete(entryKey(place));
      this.#put(tx, userId, { ...list, first: place.number + 1, count: list.count - 1 });
      return sessions[index];
    }
    this.#put(tx, userId, NONE);
    return undefined;
  }

  #put(tx: Transaction, userId: UserID, list: UnusedList): void {
    if (list.count > 0) tx.set(listKey(userId), list);
    else tx.delete(listKey(userId));
    const before = this.#lists.get(userId) ?? NONE;
    this.#keep(userId, list);
    tx.onAbort(() => this.#keep(userId, before));
  }

  #keep(userId: UserID, list: UnusedList): void {
    this.#total += list.count - (this.#lists.get(userId)?.count ?? 0);
    if (list.count > 0) this.#lists.set(userId, list);
    else this.#lists.delete(userId);
  }
}

function listKey(userId: UserID): RecordKey<UnusedList> {
  return recordKey(LIST_KIND, userId);
}

function entryKey({ userId, number }: UnusedPlace): RecordKey<MegolmSessionRef> {
  return { ...recordKey("inbound_unused_session", userId, String(number)), passing: true };
}

const KIND = "backup_due";

/** A session with its mark, which is another one whenever the session has another key. */
export interface DueSession extends MegolmSessionRef {
  readonly mark: string;
}

/** Marks sessions. */
export class DueSessions {
  readonly #uniqueId: () => string;
  /** Whether a backup is in use. */
  isOn = false;
  /** Whether there may be marks. */
  #isAny = true;

  /** @param uniqueId Makes marks. */
  constructor(uniqueId: () => string) {
    this.#uniqueId = uniqueId;
  }

  /** Whether there may be sessions that are due. */
  get isAny(): boolean {
    return this.#isAny;
  }

  /** Marks a session that is new, or reads more than before. */
  add(tx: Transaction, session: MegolmSessionRef): void {
    if (!this.isOn) return;
    tx.set(dueKey(session), this.#uniqueId());
    tx.onCommit(() => this.#isAny = true);
    tx.leadsToRequest = true;
  }

  /** The first of them. */
  async first(tx: Transaction, limit: number): Promise<DueSession[]> {
    const found = await tx.page<string>({ limit }, KIND);
    if (found.length === 0) tx.onCommit(() => this.#isAny = false);
    // As dueKey() makes them.
    return found.map(([[roomId = "", sessionId = ""], mark]) => ({
      roomId: roomId as RoomID,
      sessionId,
      mark,
    }));
  }

  /** Removes marks of sessions that have been backed up; one that was marked again keeps its mark. */
  async done(tx: Transaction, sessions: readonly DueSession[]): Promise<void> {
    const marks = await tx.getMany(sessions.map(dueKey));
    for (const [index, session] of sessions.entries()) {
      if (marks[index] === session.mark) tx.delete(dueKey(session));
    }
  }
}

function dueKey({ roomId, sessionId }: MegolmSessionRef): RecordKey<string> {
  return { ...recordKey<string>(KIND, roomId, sessionId), held: true, passing: true }; // no cache needs it
}
