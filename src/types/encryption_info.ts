/**
 * What is known of how an event was encrypted, and by whom.
 *
 * @module
 */

import type { DeviceID } from "./ids.ts";

/**
 * How far the device that encrypted an event is to be trusted, from bad to good.
 *
 * - `mismatched-sender`: the key belongs to another user than the event's sender;
 * - `unknown-device`: nobody knows the device that the key came from;
 * - `unsigned-device`: its user does not vouch for the device;
 * - `verification-violation`: the user vouches for it, with another identity than the one that was seen first;
 * - `unverified-identity`: the user vouches for it, with the identity that was seen first;
 * - `verified`: the device has been verified.
 */
export type SenderTrust =
  | "mismatched-sender"
  | "unknown-device"
  | "unsigned-device"
  | "verification-violation"
  | "unverified-identity"
  | "verified";

/**
 * Where the key of an event came from: from the sending device itself, or by way of another device, a file or a backup, none of
 * which can prove whose key it is.
 */
export type KeySource = "direct" | "forwarded" | "backup" | "export" | "bundle";

/** What is known of how an event was encrypted, and by whom. */
export interface EncryptionInfo {
  /** How far the sending device is to be trusted. */
  readonly senderTrust: SenderTrust;
  /** Where the key came from. */
  readonly keySource: KeySource;
  /** The Megolm session. */
  readonly sessionId: string;
  /** The event's place in the session, from 0. */
  readonly messageIndex: number;
  /** The Curve25519 identity key of the device that the key came from; hearsay unless `keySource` is `direct`. */
  readonly senderKey: string;
  /** That device; undefined if it is unknown. */
  readonly senderDevice: DeviceID | undefined;
}
