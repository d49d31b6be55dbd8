/**
 * Detecting that the store was set back to an earlier state, and recovering from it.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";
import { sameKey } from "../../types/base64.ts";
import type { Transaction } from "../records/mod.ts";
import { rollbackKey } from "../olm/mod.ts";
import { messagesOf, outboundKey } from "../sharing/mod.ts";
import type { OwnDevice } from "../context/context.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { Decryption } from "../megolm/mod.ts";

/**
 * What own events can't be decrypted with that were encrypted by a later state of the store, or by a
 * copy of it: a key that was made there, or an index that another event has used.
 */
const TELLING: ReadonlySet<string> = new Set(["MISSING_KEY", "REPLAYED"]);
/** After hearsay of a rollback no more hearsay counts for an hour: a server can make it up. */
const HEARSAY_MS = 3_600_000;

/** The encrypted events of a sync, and their results. */
export interface DecryptedEvents {
  readonly encrypted: readonly MessageEvent[];
  /** The result of each, in the same order. */
  readonly decrypted: readonly Decryption[];
}

/**
 * Whether own events prove that the store is out of date. An index and a session's key are
 * committed before anything is sent: an own event at a later index, or of an unknown session, was
 * encrypted after the store was written. So was one at an index that another has: by another process
 * on a copy of the store, unless the server shows one event as two.
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
      if (!TELLING.has(result.code) || !claimsToBeOwn(event, own)) continue;
      if (elapsed(clock.now(), await tx.get(rollbackKey())) >= HEARSAY_MS) return true;
      continue;
    }
    const { event: { room_id }, encryption } = result;
    if (encryption?.senderKey !== own.curve25519) continue;
    const messages = messagesOf(await tx.get(outboundKey(room_id)), encryption.sessionId);
    if (messages !== undefined && encryption.messageIndex >= messages) return true;
  }
  return false;
}

/**
 * Runs {@link recoverFromRollback} if a room's session has an old record. If the whole store was
 * set back, own events show it; a single old record shows only by other records.
 */
export async function recoverFromOldSession(
  tx: Transaction,
  parts: EngineParts,
  roomId: RoomID,
): Promise<void> {
  if (await parts.outbound.wasPutBack(tx, roomId)) await recoverFromRollback(tx, parts);
}

/** Whether an event that can't be decrypted claims to be of this device. */
function claimsToBeOwn({ content }: MessageEvent, own: OwnDevice): boolean {
  return content.device_id === own.deviceId && sameKey(content.sender_key, own.curve25519);
}

/**
 * Gives up whatever could be used twice: sessions, keys that may have been handed out, messages on
 * their way.
 */
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
