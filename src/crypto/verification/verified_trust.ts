/**
 * What follows from a verification, in one commit: local trust, and signatures with the own keys that
 * are at hand.
 *
 * @module
 */

import { acceptedIdentity, type Device, type DeviceLists } from "../devices/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import type { IdentitySigning } from "../identity/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type { UserID } from "../../types/ids.ts";
import type { FrozenKeys, VerifiedKeys } from "./protocol.ts";

/** The parts that it needs. */
export interface VerifiedTrustParts {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** The devices and identities of users. */
  readonly devices: DeviceLists;
  /** Signs them. */
  readonly signing: IdentitySigning;
}

export interface Verified {
  /** The other user, who may be the own one. */
  readonly userId: UserID;
  /** The other device. */
  readonly device: Device;
  /** The keys that were verified. */
  readonly keys: FrozenKeys;
  /** Which of them. */
  readonly vouched: VerifiedKeys;
}

/** Stores the trust, and what the server is to get. */
export async function trustVerified(
  tx: Transaction,
  { context: { own }, devices, signing }: VerifiedTrustParts,
  { userId, device, keys: { master }, vouched }: Verified,
): Promise<void> {
  if (vouched.identity && master !== undefined) {
    const compared = { userId, master };
    const isVerified = (await devices.identityOf(tx, userId))?.verified === true;
    if (!isVerified && await signing.signIdentity(tx, compared) === "no-key") {
      await devices.changeIdentity(tx, userId, (before) => acceptedIdentity(before, compared));
    }
  }
  if (!vouched.device) return;
  await devices.setTrust(tx, device, "verified");
  if (userId === own.userId) await signing.signDevice(tx, device);
}
