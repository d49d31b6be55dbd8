/**
 * What the application says of devices and identities, and what follows from it.
 *
 * @module
 */

import type { ComparedIdentity } from "../devices/user_record.ts";
import type { Transaction } from "../records/transaction.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { RecoveredEvent, TrustInput } from "./engine_protocol.ts";

/** Takes in what the application says of a device: one that is blacklisted does not read on. */
export async function receiveTrust(
  tx: Transaction,
  { devices, outbound, parked }: EngineParts,
  { trust, ...device }: TrustInput,
): Promise<RecoveredEvent[]> {
  await devices.setTrust(tx, device, trust);
  if (trust === "blacklisted") await outbound.devicesChanged(tx, { removed: [device] });
  return await parked.retry(tx, "all");
}

/** Takes in that the application has accepted an identity: keys go to the devices that it vouches for, and what they sent counts. */
export async function receiveAcknowledgement(
  tx: Transaction,
  { devices, parked }: EngineParts,
  identity: ComparedIdentity,
): Promise<RecoveredEvent[]> {
  await devices.acknowledgeIdentity(tx, identity);
  return await parked.retry(tx, "all");
}
