/**
 * How long unused records are kept, and how many records others can make this device keep; and
 * the users whose records are to be looked at, by the day, so that nothing is searched.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey, type Transaction } from "./transaction.ts";

const HOUR = 3_600_000;

/** A day, in milliseconds: pruning runs once a day. */
export const DAY_MS = 24 * HOUR;

/** How many records one step of letting go removes, about: it must not keep a message waiting. */
export const RECORDS_A_STEP = 300;

/**
 * How long, in days, sessions with a former device are kept after its last message. Messages of it
 * may still be on their way: a server keeps them for devices that do not sync.
 */
export const GONE_PEER_DAYS = 30;

/**
 * How long, in days, sessions with a user's devices are kept after their last message when no
 * encrypted room is shared any more. If the user comes back, keys may come over the old sessions.
 */
export const LEFT_PEER_DAYS = 365;

/**
 * How long, in days, the devices of a user are kept with whom no encrypted room is shared any more.
 * They are queried again when there is a room; until then they only show the owner of old events,
 * which sessions record as well.
 */
export const LEFT_USER_DAYS = 30;

/**
 * How long, in days, the keys of a user's former devices are kept after that, if no cross-signing
 * key was ever seen and the application has made no decision. An attacker who could replace such a
 * key could as well show a new device.
 */
export const UNVOUCHED_USER_DAYS = 365;

/**
 * How many former devices are kept of a user with whom no encrypted room is shared any more, the
 * newest.
 */
export const FORMER_DEVICES = 100;

/**
 * How long, in milliseconds, the recipients of a room's last session are kept after its last use:
 * so long may they request its key again.
 */
export const IDLE_ROOM_MS = 30 * DAY_MS;

/**
 * The longest time for which a session counts as in use, in milliseconds, whatever the room's
 * settings.
 */
export const LONGEST_USE_MS = 365 * DAY_MS;

/**
 * How much older, in milliseconds, than the oldest key by which sessions can be begun the last
 * message of a device must be for its messages to be forgotten: a repetition of any of them then
 * opens nothing. The server may have handed a key out before it was known to have it.
 */
export const FALLBACK_MARGIN_MS = 7 * DAY_MS;

/**
 * With how many unknown devices there may be sessions, shared fairly among users: they may send
 * room keys only. They do not expire, since a key over such a session would be lost.
 */
export const UNKNOWN_DEVICES = 5_000;

/** How many unknown devices are remembered that could not be understood, shared fairly among users. */
export const MISUNDERSTOOD_DEVICES = 1_000;

/**
 * How many users are looked up in an hour because a device of theirs that is not known could not be
 * understood, shared fairly among their servers; each once. One query can ask about so many.
 */
export const LOOKUPS_AN_HOUR = 250;

/** With how many new devices one user can begin sessions in a day: as many as a user may have. */
export const NEW_PEERS_A_DAY = 1_000;

/** How many group sessions of one user may wait for their first message; the oldest is evicted. */
export const UNUSED_OF_USER = 10_000;

/**
 * How many group sessions may wait for their first message in all; the oldest of the user with the
 * most is evicted.
 */
export const UNUSED_IN_ALL = 200_000;

/** A look at a user that is due. */
export interface ScheduledPruning {
  readonly userId: UserID;
  /**
   * The day on which it is due, in days since the epoch; with the user it is the key of the record.
   */
  readonly day: string;
}

/** When to look. */
export interface PruningTime {
  /** From when on it counts, in milliseconds since the epoch. */
  readonly now: number;
  /** After how many days. */
  readonly days: number;
}

const KIND = "leftover";
/** So that the order of keys is that of days. */
const DIGITS = 8;

/** Schedules pruning of a user some days from now. */
export function schedulePruning(tx: Transaction, userId: UserID, { now, days }: PruningTime): void {
  tx.set(leftoverKey({ userId, day: dayOf(now + days * DAY_MS) }), now);
}

/** The prunings that are due, the oldest first, without those of this step. */
export async function duePruning(
  tx: Transaction,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<ScheduledPruning[]> {
  const first = await tx.page<number>({ limit }, KIND);
  const today = dayOf(now);
  return first
    .map(([[day = "", userId = ""]]) => ({ userId: userId as UserID, day })) // it was written under a user ID
    .filter(({ day }) => day <= today);
}

/** Removes a pruning that is done. */
export function pruningDone(tx: Transaction, leftover: ScheduledPruning): void {
  tx.delete(leftoverKey(leftover));
}

function dayOf(time: number): string {
  return String(Math.floor(time / DAY_MS)).padStart(DIGITS, "0");
}

function leftoverKey({ userId, day }: ScheduledPruning): RecordKey<number> {
  return recordKey(KIND, day, userId);
}
