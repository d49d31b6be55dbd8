/**
 * A store that was set back to an earlier state: how that is noticed, and what is done about it.
 *
 * @module
 */

import { elapsed } from "../../base/elapsed.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";
import { sameKey } from "../encoding/base64.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/transaction.ts";
import { outboundKey } from "../sharing/outbound_record.ts";
import type { OwnDevice } from "./context.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { Decryption } from "./engine_protocol.ts";

/** After hearsay of a rollback no more hearsay counts for an hour: a server can make it up. */
const HEARSAY_MS = 3_600_000;

/** What came with a sync, and what became of it. */
export interface DecryptedEvents {
  /** The encrypted events. */
  readonly encrypted: readonly MessageEvent[];
  /** For each, in the same order, what became of it. */
  readonly decrypted: readonly Decryption[];
}

/**
 * Whether own events tell of more than the store knows. An index is committed before anything is sent, and so is the key of a
 * session: what this device has encrypted at a place that the store thinks is still to come, or with a session of which it knows
 * nothing, it has encrypted after the store was written.
 */
export async function tellsOfRollback(
  tx: Transaction,
  { context }: EngineParts,
  { encrypted, decrypted }: DecryptedEvents,
): Promise<boolean> {
  const { own, clock } = context;
  for (const [index, result] of decrypted.entries()) {
    const event = encrypted[index];
    if (event?.sender !== own.userId) continue;
    if (!("event" in result)) {
      if (result.code !== "MISSING_KEY" || !claimsToBeOwn(event, own)) continue;
      if (elapsed(clock.now(), await tx.get(rollbackKey())) >= HEARSAY_MS) return true;
      continue;
    }
    const { event: { room_id }, encryption } = result;
    if (encryption?.senderKey !== own.curve25519) continue;
    const record = await tx.get(outboundKey(room_id));
    if (record?.sessionId === encryption.sessionId && encryption.messageIndex >= record.messages) return true;
  }
  return false;
}

/**
 * Gives up what {@link recoverFromRollback} does, if the session of a room has an old record. A store that was set back as a whole
 * is shown own events again, and is told by that; where one record was put back nothing comes, and only others know better.
 */
export async function recoverFromOldSession(
  tx: Transaction,
  parts: EngineParts,
  roomId: RoomID,
): Promise<void> {
  if (await parts.outbound.wasPutBack(tx, roomId)) await recoverFromRollback(tx, parts);
}

/** Whether an event that can't be read says that this device sent it. */
function claimsToBeOwn({ content }: MessageEvent, own: OwnDevice): boolean {
  return content.device_id === own.deviceId && sameKey(content.sender_key, own.curve25519);
}

/** When the store was last found to be set back, in milliseconds since the epoch. */
function rollbackKey(): RecordKey<number> {
  return recordKey("rollback");
}

/** Gives up whatever could be used a second time: sessions, keys that may have been handed out, what was on its way. */
export async function recoverFromRollback(tx: Transaction, parts: EngineParts): Promise<void> {
  const { ownKeys, olm, outbound, devices, outbox, context: { clock, log } } = parts;
  tx.set(rollbackKey(), clock.now());
  const pending = outbox.pending();
  log.warn("The store was set back to an earlier state: beginning new sessions and keys", {
    dropped: pending.length,
  });
  ownKeys.recoverFromRollback(tx);
  olm.rollback(tx);
  await outbound.rollback(tx);
  devices.invalidateAll(tx);
  for (const { id } of pending) outbox.remove(tx, id);
}
