/**
 * Which devices get the key of a group session.
 *
 * @module
 */

import type { WithheldCode } from "../../types/content/to_device_content.ts";
import type { Device } from "../devices/device.ts";
import type { SendPolicy } from "../engine/policy.ts";

/** A device that does not get the key, and why. */
export interface WithheldDevice {
  /** The device. */
  readonly device: Device;
  /** A code of `m.room_key.withheld`. */
  readonly code: Exclude<WithheldCode, "m.history_not_shared">;
}

/** What a device gets. */
export type ShareDecision =
  /** The key. */
  | "share"
  /** Nothing, and neither do the others: its user's identity is not the one that was seen first. */
  | "refuse"
  /** Not the key, but the reason; nothing at all if it is silent. */
  | { readonly code: WithheldDevice["code"]; readonly silent: boolean };

/** Decides about a device, which is not the own one. */
export function shareDecision(policy: SendPolicy, { trust, dehydrated }: Device): ShareDecision {
  if (trust === "blacklisted") return { code: "m.blacklisted", silent: false };
  const vouchedFor = trust === "cross-signed" || trust === "verified";
  if (dehydrated && !vouchedFor) return { code: "m.unverified", silent: true };
  switch (policy) {
    case "all":
      return "share";
    case "cross-signed":
      if (trust === "violation") return "refuse";
      return vouchedFor ? "share" : { code: "m.unverified", silent: false };
    case "verified":
      if (trust === "violation") return "refuse";
      return trust === "verified" ? "share" : { code: "m.unverified", silent: false };
  }
}
