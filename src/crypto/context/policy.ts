/**
 * The policy about which devices to trust.
 *
 * @module
 */

/** Which devices get the keys of what is sent. Blocked devices never do. */
export type SendPolicy =
  /** All devices of the room's members. */
  | "all"
  /**
   * Devices that their user vouches for with a cross-signing key, and devices that are verified.
   * Own devices are not vouched for before the application has accepted the own identity.
   */
  | "cross-signed"
  /** Devices that are verified, and those that a verified user has signed. */
  | "verified";

/** Which decrypted events reach handlers. */
export type AcceptPolicy =
  /** All that can be decrypted and whose sender is not contradicted. */
  | "all"
  /** Events of devices that their user has signed, and of devices that can't be known any more. */
  | "cross-signed-or-legacy"
  /** Events of devices that their user has signed. */
  | "cross-signed";

/** The decisions that the application makes for the engine. */
export interface CryptoPolicy {
  /** Which devices get keys. Default: `cross-signed`. */
  readonly sendTo: SendPolicy;
  /** Which events are accepted. Default: `cross-signed-or-legacy`. */
  readonly accept: AcceptPolicy;
  /**
   * Whether own verified devices, and devices that had a key, get it again on request. Default:
   * false.
   */
  readonly answerKeyRequests: boolean;
  /**
   * Whether users have to be approved before they get their first key in a room. Default: false.
   */
  readonly approveRecipients: boolean;
  /** Whether history is shared with users who are invited, and taken from who invites. Default: false. */
  readonly shareHistory: boolean;
  /**
   * Whether the first upload of device keys waits for the own identity, which signs them. Default:
   * false.
   */
  readonly awaitIdentity: boolean;
  /**
   * Whether own devices count as signed as long as the account never had an identity that could sign
   * them. Default: true.
   */
  readonly sparesOwn: boolean;
}

/** The default policy. */
export const DEFAULT_POLICY: CryptoPolicy = {
  sendTo: "cross-signed",
  accept: "cross-signed-or-legacy",
  answerKeyRequests: false,
  approveRecipients: false,
  shareHistory: false,
  awaitIdentity: false,
  sparesOwn: true,
};
