/**
 * Dehydrated devices, as encryption uses them.
 *
 * @module
 */

import type { ClientAPI } from "../../api/api.ts";
import type { OwnIdentityState } from "../../crypto/engine/engine.ts";
import type { SecretKeeper } from "../backup/backup.ts";

/**
 * What has become of the dehydrated device:
 *
 * - `on`: the account has one, made by this device not a week ago, or by another one of the user; what
 *   was sent to one before is read;
 * - `unsupported`: the server has none;
 * - `no-secret`: its key is not here, and nothing was given that opens the secret storage;
 * - `unusable`: what the secret storage has as its key is none. Nothing was changed;
 * - `failed`: something else went wrong, as the log says; it is tried again in an hour, and with the
 *   next start.
 */
export type DehydrationOutcome = "on" | "unsupported" | "no-secret" | "unusable" | "failed";

/** The operations that a dehydrated device is made with. */
export type DehydrationAPI = Pick<
  ClientAPI,
  "getDehydratedDevice" | "putDehydratedDevice" | "getDehydratedDeviceEvents" | "uploadSignatures"
>;

/** What the server shows of the own user. */
export interface ShownIdentity {
  /** The own identity; the server is asked if it may have changed. */
  state(): Promise<OwnIdentityState>;
  /** The same, when the server is asked now. */
  look(): Promise<OwnIdentityState>;
}

/** Has the account have a dehydrated device. */
export interface DehydrationMachine {
  /** Whether it is to be looked at again: once a day. */
  readonly isDue: boolean;
  /**
   * Reads the device that is there, if this one has not made it, and has it replaced once a week.
   * Never rejects. Without a request if there is nothing to do.
   *
   * @param identity The own identity, whose keys are at hand.
   * @param open Opens the secret storage; undefined: nothing does.
   */
  ensure(
    identity: ShownIdentity,
    open: () => Promise<SecretKeeper | undefined>,
  ): Promise<DehydrationOutcome>;
}
