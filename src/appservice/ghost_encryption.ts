/**
 * How users other than the own one encrypt. A file of its own because all that keeps keys of users apart is in it.
 *
 * @module
 */

import type { EncryptionOptions } from "../encryption/encryption.ts";
import type { ClientOptions } from "../client/client.ts";
import { derivedRecoveryKey } from "../encryption/recovery_key/recovery_key.ts";
import type { UserID } from "../types/ids.ts";

/**
 * Whether what the own user was given holds for all others; one that is missing here does not compile. The others
 * have secrets of their own, or none, and only send: nobody verifies with them, and they read and keep nothing.
 */
const HOLDS: Readonly<Record<keyof EncryptionOptions, boolean>> = {
  ...{ sendTo: true, accept: true, unencrypted: true, onNewRecipient: true },
  ...{ answerKeyRequests: true, shareHistory: true },
  ...{ recoveryKey: false, passphrase: false, onRecoveryKey: false, password: false, authentication: false },
  ...{ backup: false, dehydratedDevice: false, verification: false },
};

/**
 * How a user encrypts: as the own user, with an identity of its own where that one has a recovery key.
 * Keys of rooms are not backed up: nobody reads with the device.
 */
export function ghostEncryption(
  encryption: ClientOptions["encryption"],
  userId: UserID,
): ClientOptions["encryption"] {
  if (typeof encryption !== "object") return encryption;
  const entries = Object.entries(encryption).filter(([name]) => HOLDS[name as keyof EncryptionOptions]);
  const common: EncryptionOptions = Object.fromEntries(entries);
  const { recoveryKey: key } = encryption;
  if (key === undefined) return common;
  return { ...common, recoveryKey: derivedRecoveryKey(key, `appservice ${userId}`), backup: false };
}
