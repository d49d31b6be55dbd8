/**
 * Completes the replacement of the own identity, once the server has taken the new one.
 *
 * @module
 */

import type { EnsureVerifiedOptions } from "../../actors/crypto/identity_crypto.ts";
import type { OpenSecretStorage } from "../secrets/open_secret_storage.ts";
import { secretOperations } from "../secrets/secret_operations.ts";
import { wipe, writeSeeds } from "./identity_secrets.ts";
import { unlockOf, type VerifyParts } from "./verify_parts.ts";

/**
 * Stores the private keys of an identity that has replaced another.
 *
 * @param open The secret storage, if it is open.
 * @returns Whether that could be done; if not, nothing was given that opens the secret storage.
 */
export async function finishReset(
  { identity, api }: VerifyParts,
  options: EnsureVerifiedOptions,
  open?: OpenSecretStorage,
): Promise<boolean> {
  const { seeds, recoveryKey } = await identity.create({});
  try {
    const { reset, open: unlock } = secretOperations(api);
    if (open !== undefined) await writeSeeds(open, seeds, {});
    else {
      if (recoveryKey !== undefined) await reset({ recoveryKey, onRecoveryKey: () => {} });
      const by = recoveryKey === undefined ? unlockOf(options) : { recoveryKey };
      if (by === undefined) return false;
      using storage = await unlock(by);
      await writeSeeds(storage, seeds, {});
    }
  } finally {
    wipe(seeds);
  }
  return true;
}
