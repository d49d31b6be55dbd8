/**
 * How the part of a response about one user is received.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { CryptoContext } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import { type DeviceListChanges, shownKeys, userPart } from "./query_response.ts";
import type { DeviceQuery, TrackedUsers } from "./tracked_users.ts";
import { judgeAnswer, withoutDevices } from "./user_answer.ts";
import type { UserRecord } from "./user_record.ts";

/** A response, and the user it is about. */
export interface ReceivedUser {
  readonly userId: UserID;
  readonly query: DeviceQuery;
  /** The response, unchecked. */
  readonly response: JsonObject;
  /** The user's record so far. */
  readonly before: UserRecord;
  /** Receives alarms, and what is shown of the own device. */
  readonly changes: DeviceListChanges;
}

/** What it takes. */
export interface ReceivingParts {
  /** What the parts of the engine share. */
  readonly context: CryptoContext;
  /** Who has to be queried. */
  readonly tracked: TrackedUsers;
  /** The own user-signing key, which verifies other users; undefined: none. */
  readonly verifier: string | undefined;
}

/** The user's record after a response: the same object if nothing has changed. */
export function receiveUser(
  tx: Transaction,
  { context: { clock, own, vodozemac }, tracked, verifier }: ReceivingParts,
  { userId, query, response, before, changes }: ReceivedUser,
): UserRecord {
  const { unreachable, answer } = userPart(response, userId);
  if (unreachable) tracked.unreachable(tx, userId, clock.now());
  else if (typeof answer !== "string") tracked.answered(tx, userId, query);
  else tracked.absent(tx, userId, { query, now: clock.now() });
  if (answer === "malformed" || (unreachable && answer === "absent")) return before;
  if (userId === own.userId) changes.own = shownKeys(answer, own.deviceId);
  const { record, alarms } = answer === "absent"
    ? { record: withoutDevices(before), alarms: [] }
    : judgeAnswer({ vodozemac, own, verifier }, before, answer);
  for (const alarm of alarms) changes.alarms.push(alarm);
  return JSON.stringify(record) === JSON.stringify(before) ? before : record;
}
