/**
 * A store that was set back to an earlier state: how that is noticed, and what is done about it.
 *
 * @module
 */

import type { EngineParts } from "./engine_parts.ts";
import type { Decryption } from "./engine_protocol.ts";
import { outboundKey } from "./outbound_record.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Whether own events tell of more than the store knows: this device has encrypted at a place of a group session that the store
 * thinks is still to come. An index that is committed before anything is sent can't be behind what was sent.
 */
export async function tellsOfRollback(
  tx: Transaction,
  { context: { own } }: EngineParts,
  decrypted: readonly Decryption[],
): Promise<boolean> {
  for (const result of decrypted) {
    if (!("event" in result)) continue;
    const { sender, room_id, encryption } = result.event;
    if (sender !== own.userId || encryption?.senderKey !== own.curve25519) continue;
    const record = await tx.get(outboundKey(room_id));
    if (record?.sessionId === encryption.sessionId && encryption.messageIndex >= record.messages) return true;
  }
  return false;
}

/** Gives up whatever could be used a second time: sessions, keys that may have been handed out, what was on its way. */
export async function recoverFromRollback(tx: Transaction, parts: EngineParts): Promise<void> {
  const { ownKeys, olm, outbound, devices, outbox, context: { log } } = parts;
  const pending = outbox.pending();
  log.warn("The store was set back to an earlier state: beginning new sessions and keys", {
    dropped: pending.length,
  });
  await ownKeys.recoverFromRollback(tx);
  await olm.rollback(tx);
  await outbound.rollback(tx);
  await devices.invalidateAll(tx);
  for (const { id } of pending) outbox.remove(tx, id);
}
