/**
 * What the verification of the own device works with.
 *
 * @module
 */

import type { EnsureVerifiedOptions } from "../../actors/crypto/identity_crypto.ts";
import type { IdentityPort } from "../../actors/crypto/identity_port.ts";
import type { ClientAPI } from "../../api/client_api.ts";
import type { Logger } from "../../base/log.ts";
import type { SecretsAPI } from "../secrets/account_secrets.ts";
import { checkUnlock, type SecretStorageUnlock } from "../secrets/unlock.ts";

/** What it works with. */
export interface VerifyParts {
  /** The own identity. */
  readonly identity: Pick<IdentityPort, keyof IdentityPort>;
  /** The operations. */
  readonly api: SecretsAPI & Pick<ClientAPI, "uploadCrossSigningKeys">;
  /** Where it says what is missing. */
  readonly log: Logger;
}

/**
 * What opens the secret storage; undefined if nothing was given.
 *
 * @throws {ValueError} If two things were.
 * @throws {SecretStorageError} If it is a recovery key with a typing error.
 */
export function unlockOf(
  { recoveryKey, passphrase }: EnsureVerifiedOptions,
): SecretStorageUnlock | undefined {
  if (recoveryKey === undefined && passphrase === undefined) return undefined;
  const by = { recoveryKey, passphrase } as SecretStorageUnlock; // that it is one of the two is checked next
  checkUnlock(by);
  return by;
}
