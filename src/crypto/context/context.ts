/**
 * What all parts of the engine share.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DeviceID, TransactionID, UserID } from "../../types/ids.ts";
import type { ServerSigns } from "../requests/requests.ts";

export interface OwnDevice {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  /** The Curve25519 identity key, in unpadded base64. */
  readonly curve25519: string;
  /** The Ed25519 signing key, in unpadded base64. */
  readonly ed25519: string;
}

/** What all parts of the engine share. */
export interface CryptoContext {
  /**
   * The primitives: another instance after one has trapped, so that they must be read at each use.
   */
  readonly vodozemac: Vodozemac;
  readonly own: OwnDevice;
  /** The wall clock. */
  readonly clock: Clock;
  /** The log; never for keys, tokens or contents. */
  readonly log: Logger;
  readonly policy: CryptoPolicy;
  /** How often the server has answered this process. */
  readonly server: ServerSigns;
  /** A unique ID for transactions and requests. */
  readonly uniqueId: () => string;
}

/**
 * Makes what the parts share.
 *
 * @param vodozemac Returns the primitives as they are at the moment.
 * @param shared The rest, but for the unique IDs.
 */
export function cryptoContext(
  vodozemac: () => Vodozemac,
  shared: Omit<CryptoContext, "vodozemac" | "uniqueId" | "server">,
): CryptoContext {
  const random = crypto.getRandomValues(new Uint8Array(12)).toHex();
  let count = 0;
  return {
    get vodozemac() {
      return vodozemac();
    },
    ...shared,
    server: { answers: 0 },
    uniqueId: () => `gr-${random}-${(count++).toString(36)}`,
  };
}

/** A transaction ID and the time, for an entry of the outbox. */
export function newTxn({ uniqueId, clock }: CryptoContext): { txnId: TransactionID; now: number } {
  return { txnId: uniqueId(), now: clock.now() };
}

/** Whose engine it is. */
export interface EngineAccount {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
}

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
