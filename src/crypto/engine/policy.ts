/**
 * What may be chosen about whom to trust.
 *
 * @module
 */

/** Which devices get the keys of what is sent. Devices that are blocked never do. */
export type SendPolicy =
  /** All devices of the room's members. */
  | "all"
  /**
   * Devices that their user vouches for with a cross-signing key, and devices that are verified. Own devices are not vouched for
   * before the application has accepted the own identity.
   */
  | "cross-signed"
  /** Devices that are verified, and those that a verified user vouches for. */
  | "verified";

/** Which decrypted events reach handlers. */
export type AcceptPolicy =
  /** All that can be decrypted and whose sender is not contradicted. */
  | "all"
  /** Those of devices that their user vouches for, and those whose device can't be known any more. */
  | "cross-signed-or-legacy"
  /** Those of devices that their user vouches for. */
  | "cross-signed";

/** What the engine goes by. */
export interface CryptoPolicy {
  /** Which devices get keys. Default: `all`. */
  readonly sendTo: SendPolicy;
  /** Which events are accepted. Default: `all`. */
  readonly accept: AcceptPolicy;
  /** Whether own verified devices, and devices that had a key, get it again when they ask. Default: false. */
  readonly answerKeyRequests: boolean;
  /** Whether users who never got a key in a room have to be approved before they get the first. Default: false. */
  readonly approveRecipients: boolean;
}

/** What the engine goes by if nothing else is said. */
export const DEFAULT_POLICY: CryptoPolicy = {
  sendTo: "all",
  accept: "all",
  answerKeyRequests: false,
  approveRecipients: false,
};
