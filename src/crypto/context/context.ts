/**
 * What all parts of the engine share.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DeviceID, TransactionID, UserID } from "../../types/ids.ts";
import type { ServerSigns } from "../requests/lone_failures.ts";
import type { CryptoPolicy } from "./policy.ts";

/** The own device. */
export interface OwnDevice {
  /** The user. */
  readonly userId: UserID;
  /** The device. */
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
  /** The own device. */
  readonly own: OwnDevice;
  /** The wall clock. */
  readonly clock: Clock;
  /** The log; never for keys, tokens or contents. */
  readonly log: Logger;
  /** The policy. */
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
  /** The user. */
  readonly userId: UserID;
  /** The device. */
  readonly deviceId: DeviceID;
}
