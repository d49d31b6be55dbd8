/**
 * What has opened the secret storage last, so that a start can tell another recovery key without opening it,
 * and that the storage has another key by now.
 *
 * Of a recovery key there is a hash: it has 256 bits of chance, so that nobody finds it by that. Of a
 * passphrase there is nothing, for that could be guessed faster than the storage lets it be.
 *
 * @module
 */

import { recordKey } from "../records/mod.ts";
import { decodeRecoveryKey } from "../secrets/mod.ts";

/** What has opened the secret storage last. */
export interface StorageOpener {
  /** The ID of the key that it opened. */
  readonly keyId: string;
  /** What {@link openerOf} says of the recovery key; absent: it was a passphrase. */
  readonly recoveryKey?: string;
}

/** The record. */
export const STORAGE_OPENER = recordKey<StorageOpener>("own_identity", "opener");

/** Hashes are of use for nothing else by that. */
const PURPOSE = new TextEncoder().encode("greenroom: the key that has opened the secret storage\0");

/**
 * What is kept of a recovery key: its hash.
 *
 * @throws {SecretStorageError} If it has a typing error.
 */
export async function openerOf(recoveryKey: string): Promise<string> {
  const key = decodeRecoveryKey(recoveryKey);
  const bytes = Uint8Array.of(...PURPOSE, ...key);
  try {
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toBase64();
  } finally {
    key.fill(0);
    bytes.fill(0);
  }
}
