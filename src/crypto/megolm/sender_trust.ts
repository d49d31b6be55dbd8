/**
 * How far the sender of what was encrypted is to be trusted.
 *
 * @module
 */

import type { KeySource, SenderTrust } from "../../types/events/encryption_info.ts";
import type { Device, DeviceTrust } from "../devices/device.ts";
import type { AcceptPolicy } from "../engine/policy.ts";

const TRUST: Readonly<Record<DeviceTrust, SenderTrust>> = {
  "blacklisted": "unsigned-device",
  "unsigned": "unsigned-device",
  "violation": "verification-violation",
  "cross-signed": "unverified-identity",
  "verified": "verified",
};

/** How far a device is to be trusted that has encrypted something; undefined: nobody knows it. */
export function senderTrustOf(device: Pick<Device, "trust"> | undefined): SenderTrust {
  return device === undefined ? "unknown-device" : TRUST[device.trust];
}

/**
 * Whether events of such a sender reach handlers.
 *
 * A sender whom the key contradicts is never accepted. A device that is unknown although the key came from it counts as
 * unknown only for now: otherwise a device that has been hidden would pass for one from before there was anything to know.
 */
export function accepts(policy: AcceptPolicy, trust: SenderTrust, source: KeySource): boolean {
  if (trust === "mismatched-sender") return false;
  if (policy === "all" || trust === "verified" || trust === "unverified-identity") return true;
  return policy === "cross-signed-or-legacy" && trust === "unknown-device" && source !== "direct";
}
