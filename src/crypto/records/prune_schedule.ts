/**
 * Users of whom there may be something that need not be kept any more, and when that is to be looked at.
 *
 * So nobody has to look through all that is kept to find what is not needed.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { DAY_MS } from "../engine/retention.ts";
import { type RecordKey, recordKey, type Transaction } from "./transaction.ts";

/** A look at a user that is due. */
export interface ScheduledPruning {
  /** The user. */
  readonly userId: UserID;
  /** The day on which it was due, in days since the epoch; together with the user it is the name of the look. */
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

/** Has a user looked at some days from now. */
export function schedulePruning(tx: Transaction, userId: UserID, { now, days }: PruningTime): void {
  tx.set(leftoverKey({ userId, day: dayOf(now + days * DAY_MS) }), now);
}

/** The looks that are due, the oldest first, but for what this step has written. */
export async function duePruning(
  tx: Transaction,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<ScheduledPruning[]> {
  const first = await tx.first<number>(limit, KIND);
  const today = dayOf(now);
  return first
    .map(([[day = "", userId = ""]]) => ({ userId: userId as UserID, day })) // it was written under a user ID
    .filter(({ day }) => day <= today);
}

/** Says that a look was taken. */
export function pruningDone(tx: Transaction, leftover: ScheduledPruning): void {
  tx.delete(leftoverKey(leftover));
}

function dayOf(time: number): string {
  return String(Math.floor(time / DAY_MS)).padStart(DIGITS, "0");
}

function leftoverKey({ userId, day }: ScheduledPruning): RecordKey<number> {
  return recordKey(KIND, day, userId);
}
