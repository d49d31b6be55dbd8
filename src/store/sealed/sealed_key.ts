/**
 * Keys that seal, made of the one that the user gives.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";

/** How long a user's key is, in bytes. */
const KEY_BYTES = 32;

/** How long a salt is, in bytes. */
const SALT_BYTES = 32;

/** Makes a salt, which is used for one key only. */
export function newSalt(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(SALT_BYTES));
}

/**
 * Takes the user's key for what it is: what other keys are derived from.
 *
 * @param key 32 random bytes, or a `CryptoKey` for HKDF that may derive keys.
 * @throws {ValueError} If it is neither.
 */
export async function keyMaterial(key: Uint8Array | CryptoKey): Promise<CryptoKey> {
  if (key instanceof CryptoKey) {
    if (key.algorithm.name === "HKDF" && key.usages.includes("deriveKey")) return key;
    throw new ValueError(
      'Cannot seal with this CryptoKey: it does not derive keys; import 32 random bytes for "HKDF" with the usage "deriveKey"',
    );
  }
  if (!(key instanceof Uint8Array) || key.length !== KEY_BYTES) {
    const state = key instanceof Uint8Array ? `it has ${key.length} bytes` : "it is no Uint8Array";
    throw new ValueError(
      `Cannot seal with this key: ${state}; make one of ${KEY_BYTES} random bytes, never of a passphrase`,
    );
  }
  const extractable = false;
  return await crypto.subtle.importKey("raw", new Uint8Array(key), "HKDF", extractable, ["deriveKey"]);
}

/**
 * Derives a key for AES-256-GCM with HKDF-SHA-256; keys for different purposes or of different salts have nothing in common.
 *
 * @param material What {@link keyMaterial} gave.
 * @param salt What {@link newSalt} gave.
 * @param purpose What the key is for.
 */
export async function sealingKey(
  material: CryptoKey,
  salt: Uint8Array<ArrayBuffer>,
  purpose: string,
): Promise<CryptoKey> {
  const info = new TextEncoder().encode(`greenroom: ${purpose}`);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt, info };
  const aes = { name: "AES-GCM", length: 256 };
  const extractable = false;
  return await crypto.subtle.deriveKey(hkdf, material, aes, extractable, ["encrypt", "decrypt"]);
}
