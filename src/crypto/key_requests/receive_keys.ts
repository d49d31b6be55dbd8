/**
 * How the engine receives keys that no device has sent: those of a file or a backup.
 *
 * @module
 */

import {
  type AddedKey,
  type ImportedRoomKey,
  type InboundSessions,
  isPastOnly,
  type RecoveredEvent,
  type UndecryptableEvents,
} from "../megolm/mod.ts";
import type { KeyRequests } from "./key_requests.ts";
import type { MegolmSessionRef } from "../../types/session_ref.ts";
import type { Transaction } from "../records/mod.ts";
import type { CryptoContext } from "../context/context.ts";

/** What has become of imported keys. */
export interface KeysOutput extends Readonly<Record<AddedKey["kind"], number>> {
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
}

/** The parts that receive keys. */
export interface KeyReceivers {
  /** What the parts share. */
  readonly context: CryptoContext;
  readonly inbound: Pick<InboundSessions, "importAll">;
  readonly keyRequests: Pick<KeyRequests, "received">;
  /** The events that wait for keys. */
  readonly undecryptable: Pick<UndecryptableEvents, "retry">;
}

/**
 * Receives keys: those that can't be used are left out, and no more requested is what has come, unless it does
 * for the past alone.
 */
export async function receiveKeys(
  tx: Transaction,
  { inbound, keyRequests, undecryptable, context: { log, policy } }: KeyReceivers,
  keys: readonly ImportedRoomKey[],
): Promise<KeysOutput> {
  const counts = { added: 0, improved: 0, known: 0, refused: 0 };
  const reasons = new Set<string>();
  const newKeys: MegolmSessionRef[] = [];
  for (const [index, added] of (await inbound.importAll(tx, keys)).entries()) {
    const { source } = keys[index] as ImportedRoomKey; // one for each
    counts[added.kind]++;
    if (added.kind === "refused") reasons.add(added.reason);
    else if (!isPastOnly(policy.accept, { trust: "unknown-device", source })) keyRequests.received(tx, added);
    if (added.kind === "added" || added.kind === "improved") newKeys.push(added.session);
  }
  if (counts.refused > 0) {
    log.warn("Refused imported keys", { count: counts.refused, reasons: [...reasons].join("; ") });
  }
  const recovered = newKeys.length === 0 ? [] : await undecryptable.retry(tx, newKeys);
  return { ...counts, recovered };
}
