/**
 * What is known of how an event was encrypted, and by whom.
 *
 * @module
 */

import type { DeviceID, UserID } from "../ids.ts";

/**
 * How far the device that encrypted an event is to be trusted, from bad to good.
 *
 * - `mismatched-sender`: the key belongs to another user than the event's sender;
 * - `unknown-device`: the device that the key came from is unknown, or nothing proves that it is the one
 *   that is named, for which its user vouches;
 * - `unsigned-device`: its user does not vouch for the device, or for the one that is named;
 * - `verification-violation`: the user vouches for it, was verified and is not any more; or with an identity that
 *   was replaced before, or, of the own user, with one that was not accepted;
 * - `unverified-identity`: the user vouches for it, and nobody has verified the user;
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
 * Where the key of an event came from: from the sending device itself, or by way of another device,
 * a file or a backup, none of which can prove whose key it is.
 */
export type KeySource = "direct" | "forwarded" | "backup" | "export" | "bundle";

/**
 * Where the `m.relates_to` of a content stood: inside of what was encrypted, so that it is the
 * sender's; or beside it, in clear, where the server can have put it or changed it. Servers need it
 * there, and some clients write it nowhere else.
 */
export type RelationSource = "encrypted" | "clear";

/** What is known of the device that encrypted something. */
export interface SenderInfo {
  /** How far the device is to be trusted. */
  readonly senderTrust: SenderTrust;
  /** Its Curve25519 identity key. */
  readonly senderKey: string;
  /** The device; undefined if it is unknown. */
  readonly senderDevice: DeviceID | undefined;
}

/**
 * What is known of how an event of a room was encrypted, and by whom. `senderKey` is of the device
 * that the key came from: hearsay unless `keySource` is `direct`.
 */
export interface EncryptionInfo extends SenderInfo {
  /** Where the key came from. */
  readonly keySource: KeySource;
  /**
   * Who has shared the key, if `keySource` is `bundle`: the user who invited this one, and who alone
   * says whose key it is. Else absent.
   */
  readonly sharedBy?: UserID;
  /** The Megolm session. */
  readonly sessionId: string;
  /** The event's place in the session, from 0. */
  readonly messageIndex: number;
  /**
   * Where its `m.relates_to` comes from; undefined if it has none. What is `clear` does not say to
   * which question a "yes" is the answer: the server could aim it at another.
   */
  readonly relation: RelationSource | undefined;
}

/** Why an event can't be read. */
export type UndecryptableCode =
  /** The key is not there; it may still come. */
  | "MISSING_KEY"
  /** The sender keeps the key from this device. */
  | "WITHHELD"
  /** The key that is there begins after the event. */
  | "KEY_TOO_NEW"
  /** The event was there before, under another ID or in another room. */
  | "REPLAYED"
  /** The event is not what an encrypted event must be, or the key does not fit. */
  | "MALFORMED"
  /** It is encrypted with something that is not known here. */
  | "UNSUPPORTED_ALGORITHM"
  /** The device that sent it is not trusted enough. */
  | "UNTRUSTED";
