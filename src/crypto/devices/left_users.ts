/**
 * Pruning of users with whom no encrypted room is shared any more.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import {
  DAY_MS,
  FORMER_DEVICES,
  schedulePruning,
  type Transaction,
  UNVOUCHED_USER_DAYS,
} from "../records/mod.ts";
import { newestOf, withoutDevices } from "./user_answer.ts";
import { userKey, type UserRecord } from "./user_record.ts";

/**
 * Removes the devices of a user who is not tracked. Their immutable keys are kept for a year, and
 * forever if the user has an identity or the application has decided about a device.
 *
 * @returns Whether devices have gone.
 */
export async function pruneLeftUser(tx: Transaction, userId: UserID, now: number): Promise<boolean> {
  const record = await tx.get(userKey(userId));
  if (record === undefined) return false;
  if (record.leftAt === undefined) tx.set(userKey(userId), leftBehind(record, now));
  const { devices, gone, identity, leftAt = now } = record;
  const vouched = identity !== undefined || [...gone, ...devices].some(({ local }) => local !== undefined);
  if (!vouched && now - leftAt >= UNVOUCHED_USER_DAYS * DAY_MS) tx.delete(userKey(userId));
  else if (!vouched) schedulePruning(tx, userId, { now: leftAt, days: UNVOUCHED_USER_DAYS + 1 });
  return devices.length > 0;
}

/**
 * Immutable keys are kept of some former devices, and of all that the application has decided
 * about.
 */
function leftBehind(before: UserRecord, now: number): UserRecord {
  const { gone, identity } = withoutDevices(before);
  const spokenOf = gone.filter(({ local }) => local !== undefined).length;
  return { devices: [], gone: newestOf(gone, spokenOf + FORMER_DEVICES), identity, leftAt: now };
}
