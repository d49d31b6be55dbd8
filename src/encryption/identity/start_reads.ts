/**
 * What is read of the account by a start.
 *
 * @module
 */

import type { EnsureVerifiedOptions } from "./identity_crypto.ts";
import { BACKUP_SECRET } from "../../crypto/backup/mod.ts";
import { SEED_SECRETS } from "../../crypto/identity/mod.ts";
import { FORMERLY_WANTED, WANTED } from "../backup/backup.ts";
import { DEFAULT_KEY, rawType } from "../secrets/secrets.ts";
import type { ReadPlan } from "./early_reads.ts";

/**
 * Tells what that is, if it takes the private keys of the own identity from the secret storage. The key's
 * description has to wait: its name is what the default key says.
 *
 * @param hasBackup Whether the backup is taken into use, too.
 */
export function firstReads(hasBackup: boolean): ReadPlan {
  const names = [DEFAULT_KEY, ...Object.values(SEED_SECRETS), ...hasBackup ? [BACKUP_SECRET] : []];
  const wanted = hasBackup ? [WANTED, FORMERLY_WANTED] : [];
  return { types: [...names.map(rawType), ...wanted], version: hasBackup };
}

/** The same if it has them already: whether what was given still opens the storage, and the backup is there. */
export function laterReads({ recoveryKey, passphrase, backup }: EnsureVerifiedOptions): ReadPlan {
  const opens = recoveryKey !== undefined || passphrase !== undefined;
  return { types: opens ? [rawType(DEFAULT_KEY)] : [], version: backup !== false };
}
