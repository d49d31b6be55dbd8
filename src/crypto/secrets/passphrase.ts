/**
 * Keys made from passphrases, by PBKDF2 with HMAC-SHA-512.
 *
 * @module
 */

import type { SecretStoragePassphrase } from "../../types/content/account_data_content.ts";
import { hashPassphrase } from "../encoding/pbkdf2.ts";
import { KEY_BYTES } from "./recovery_key.ts";

/** How often a new key's passphrase is hashed: as often as other clients do it. */
const ITERATIONS = 500_000;

/** Fewer would make a passphrase easy to find. No client writes so few. */
export const MIN_ITERATIONS = 1_000;

/** Longer salts are of no use. */
export const MAX_SALT = 1_024;

const SALT_BYTES = 24;

/** What of a key's description makes the key from a passphrase. */
export type PassphraseHashing = Pick<SecretStoragePassphrase, "salt" | "iterations">;

/** How a new key is made from a passphrase. */
export function newHashing(): PassphraseHashing {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES)).toBase64({ alphabet: "base64url" });
  return { salt, iterations: ITERATIONS };
}

/**
 * Makes the key.
 *
 * @returns 32 bytes, which are the caller's to wipe.
 * @throws {ValueError} If the passphrase is empty or no well-formed text.
 */
export async function keyOfPassphrase(
  passphrase: string,
  { salt, iterations }: PassphraseHashing,
): Promise<Uint8Array<ArrayBuffer>> {
  return await hashPassphrase(passphrase, {
    salt: new TextEncoder().encode(salt),
    iterations,
    bits: KEY_BYTES * 8,
  });
}
