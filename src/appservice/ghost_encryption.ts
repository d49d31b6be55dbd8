/**
 * How users other than the own one encrypt.
 *
 * @module
 */

import type { ClientOptions } from "../client/client_options.ts";
import { derivedRecoveryKey } from "../client/secrets/derived_key.ts";
import type { UserID } from "../types/ids.ts";

/**
 * How a user encrypts: as the own user, with an identity of its own where that one has a recovery key.
 * Keys of rooms are not backed up: nobody reads with the device.
 */
export function ghostEncryption(
  encryption: ClientOptions["encryption"],
  userId: UserID,
): ClientOptions["encryption"] {
  if (typeof encryption !== "object") return encryption;
  const { sendTo, accept, unencrypted, recoveryKey: key } = encryption;
  if (key === undefined) return { sendTo, accept, unencrypted };
  const recoveryKey = derivedRecoveryKey(key, `appservice ${userId}`);
  return { sendTo, accept, unencrypted, recoveryKey, backup: false };
}
