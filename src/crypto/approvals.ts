/**
 * Who was approved as a recipient in a room, where that is asked for.
 *
 * @module
 */

import type { RoomID, UserID } from "../types/ids.ts";
import type { OutboundRecord } from "./outbound_record.ts";
import { type RecordKey, recordKey } from "./record_key.ts";
import { readShares } from "./share_records.ts";
import type { Transaction } from "./transaction.ts";

/** Approves users in a room, for good. */
export function approve(tx: Transaction, roomId: RoomID, users: readonly UserID[]): void {
  const approved = true;
  for (const userId of users) tx.set(approvalKey(roomId, userId), approved);
}

/** Which of some users have never been approved in a room, and have not got a key there either when nobody asked. */
export async function unapproved(
  tx: Transaction,
  { roomId, record }: { readonly roomId: RoomID; readonly record: OutboundRecord },
  users: readonly UserID[],
): Promise<UserID[]> {
  const approvals = await tx.getMany(users.map((userId) => approvalKey(roomId, userId)));
  let left = users.filter((_, index) => approvals[index] !== true);
  for (const { sessionId } of [record, ...record.retired]) {
    if (left.length === 0) break;
    const shares = await readShares(tx, { roomId, sessionId }, left);
    const had = left.filter((userId) => shares.get(userId)?.devices.some(({ kind }) => kind === "key"));
    approve(tx, roomId, had);
    left = left.filter((userId) => !had.includes(userId));
  }
  return left;
}

function approvalKey(roomId: RoomID, userId: UserID): RecordKey<true> {
  return recordKey("outbound_approval", roomId, userId);
}
