/**
 * Users with records that may have to be pruned, by the day on which that is due.
 *
 * So pruning need not search all records.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { DAY_MS } from "./retention.ts";
import { type RecordKey, recordKey, type Transaction } from "./transaction.ts";

/** A look at a user that is due. */
export interface ScheduledPruning {
  /** The user. */
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
