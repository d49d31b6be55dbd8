/**
 * Recovery keys as users are given them.
 *
 * @module
 */

import { encodeRecoveryKey } from "../../../src/crypto/secrets/secrets.ts";

/** The key whose 32 bytes are all the same. */
export function recoveryKeyOf(byte: number): string {
  return encodeRecoveryKey(new Uint8Array(32).fill(byte));
}

/** A key that nobody has had before. */
export function newRecoveryKey(): string {
  return encodeRecoveryKey(crypto.getRandomValues(new Uint8Array(32)));
}
