/**
 * Completes the replacement of the own identity, once the server has taken the new one.
 *
 * @module
 */

import type { EnsureVerifiedOptions } from "./identity_crypto.ts";
import { secretOperations } from "../secrets/secret_operations.ts";
import { wipe, writeSeeds } from "./identity_secrets.ts";
import { type CallParts, unlockOf } from "./verify_parts.ts";

/**
 * Stores the private keys of an identity that has replaced another.
 *
 * @returns Whether that could be done; if not, nothing was given that opens the secret storage.
 */
export async function finishReset(
  { identity, api, held, backup }: CallParts,
  options: EnsureVerifiedOptions,
): Promise<boolean> {
  const { seeds, recoveryKey } = await identity.create({});
  try {
    const { reset } = secretOperations(api);
    const isNew = held.storage === undefined && recoveryKey !== undefined;
    if (isNew) await reset({ recoveryKey, onRecoveryKey: () => {} });
    const by = recoveryKey === undefined ? unlockOf(options) : { recoveryKey };
    const storage = held.storage ?? (by && await held.open(by));
    if (storage === undefined) return false;
    await writeSeeds(storage, seeds, { alone: true }); // those of the identity before open nothing any more
    if (isNew && options.backup !== false) await backup.ensure(() => Promise.resolve(storage), { isNew });
  } finally {
    wipe(seeds);
  }
  return true;
}
