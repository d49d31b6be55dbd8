/**
 * Which devices get the key of a group session.
 *
 * @module
 */

import type { WithheldCode } from "../../types/content/to_device_content.ts";
import { type Device, isVouchedFor } from "../devices/mod.ts";
import type { SendPolicy } from "../context/context.ts";

/** A device that does not get the key, and why. */
export interface WithheldDevice {
  /** Which device gets no key. */
  readonly device: Device;
  /** A code of `m.room_key.withheld`. */
  readonly code: Exclude<WithheldCode, "m.history_not_shared">;
}

/** What a device gets. */
export type ShareDecision =
  /** The key. */
  | "share"
  /** Nothing, and neither do the others: its user's identity is not the one that was verified. */
  | "refuse"
  /** Not the key, but the reason; nothing at all if it is silent. */
  | { readonly code: WithheldDevice["code"]; readonly silent: boolean };

/** What is known of a device's user. */
export interface DeviceUser {
  /** Whether the device counts as one that its user has signed, although it is not. */
  readonly isSpared: boolean;
  /** Whether the user, who is not the own one, was verified at any time. */
  readonly wasVerified: boolean;
}

const UNVERIFIED: ShareDecision = { code: "m.unverified", silent: false };

/** Decides about a device, which is not the own one. */
export function shareDecision(
  policy: SendPolicy,
  device: Device,
  { isSpared, wasVerified }: DeviceUser,
): ShareDecision {
  const { trust, dehydrated } = device;
  if (trust === "blacklisted") return { code: "m.blacklisted", silent: false };
  const vouchedFor = isVouchedFor(device);
  if (dehydrated && !vouchedFor) return { code: "m.unverified", silent: true };
  if (policy === "all") return "share";
  // Anybody can replace their own identity, and who has a password that of the bot: only somebody whom it has
  // verified must not go missing unnoticed.
  if (trust === "violation" && wasVerified) return "refuse";
  const isEntitled = policy === "verified" ? trust === "verified" : vouchedFor || isSpared;
  return isEntitled ? "share" : UNVERIFIED;
}
