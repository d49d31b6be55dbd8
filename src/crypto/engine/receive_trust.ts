/**
 * The effects of the application's decisions about devices and identities.
 *
 * @module
 */

import type { ComparedIdentity } from "../identity/user_identity.ts";
import type { Transaction } from "../records/transaction.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { RecoveredEvent, TrustInput } from "./engine_protocol.ts";

/** Receives a decision about a device: a blacklisted one gets no more keys. */
export async function receiveTrust(
  tx: Transaction,
  { devices, outbound, undecryptable }: EngineParts,
  { trust, ...device }: TrustInput,
): Promise<RecoveredEvent[]> {
  await devices.setTrust(tx, device, trust);
  if (trust === "blacklisted") await outbound.devicesChanged(tx, { removed: [device] });
  return await undecryptable.retry(tx, "all");
}

/** Receives the acceptance of an identity: its devices get keys, and their events are accepted. */
export async function receiveAcknowledgement(
  tx: Transaction,
  { devices, undecryptable }: EngineParts,
  identity: ComparedIdentity,
): Promise<RecoveredEvent[]> {
  await devices.acknowledgeIdentity(tx, identity);
  return await undecryptable.retry(tx, "all");
}
