/**
 * The approved recipients of rooms, where the application approves them.
 *
 * @module
 */

import type { RoomID, UserID } from "../../types/ids.ts";
import type { UserIdentity } from "../devices/mod.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { OutboundRecord } from "./outbound_record.ts";
import { readShares } from "./share_records.ts";

/**
 * A user who is to get a key of a room for the first time, or for the first time with this
 * identity.
 */
export interface NewRecipient {
  /** Who gets keys for the first time. */
  readonly userId: UserID;
  /**
   * The master key of the user's identity, in unpadded base64; undefined: none, so that the server
   * can add devices.
   */
  readonly master: string | undefined;
}

/** The room and the users to approve. */
export interface ApprovalInput {
  readonly roomId: RoomID;
  /** Its session. */
  readonly record: OutboundRecord;
  readonly users: readonly UserID[];
  /** Gives the identities of users. */
  readonly devices: { identityOf(tx: Transaction, userId: UserID): Promise<UserIdentity | undefined> };
}

/** Approves users with the identities that they were shown with, permanently. */
export function approve(tx: Transaction, roomId: RoomID, recipients: readonly NewRecipient[]): void {
  for (const { userId, master = "" } of recipients) tx.set(approvalKey(roomId, userId), master);
}

/**
 * The users who were never approved in a room with their present identity, nor got a key there
 * before approval was asked for.
 */
export async function unapproved(
  tx: Transaction,
  { roomId, record, users, devices }: ApprovalInput,
): Promise<NewRecipient[]> {
  const approvals = await tx.getMany(users.map((userId) => approvalKey(roomId, userId)));
  const known = new Map(users.map((userId, index) => [userId, approvals[index]]));
  const recipients: NewRecipient[] = [];
  for (const userId of users) {
    recipients.push({ userId, master: (await devices.identityOf(tx, userId))?.master });
  }
  let left = recipients.filter(({ userId, master = "" }) => known.get(userId) !== master);
  for (const { sessionId } of [record, ...record.retired]) {
    const unasked = left.map(({ userId }) => userId).filter((userId) => known.get(userId) === undefined);
    if (unasked.length === 0) break;
    const shares = await readShares(tx, { roomId, sessionId }, unasked);
    const had = (userId: UserID) => shares.get(userId)?.devices.some(({ kind }) => kind === "key") === true;
    approve(tx, roomId, left.filter(({ userId }) => had(userId)));
    left = left.filter(({ userId }) => !had(userId));
  }
  return left;
}

/** The master key that a user was approved with; empty: the user had none. */
function approvalKey(roomId: RoomID, userId: UserID): RecordKey<string> {
  return recordKey("outbound_approval", roomId, userId);
}
