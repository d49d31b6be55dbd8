/** libolm's pickle encryption, so that mutated contents get past the MAC. */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";

const MAC_LENGTH = 8;

function keys(key: string): { aes: Uint8Array; mac: Uint8Array; iv: Uint8Array } {
  const bytes = new Uint8Array(hkdfSync("sha256", key, new Uint8Array(), "Pickle", 80));
  return { aes: bytes.subarray(0, 32), mac: bytes.subarray(32, 64), iv: bytes.subarray(64) };
}

/** What a pickle holds. */
export function unseal(pickle: Uint8Array, key: string): Uint8Array {
  const { aes, iv } = keys(key);
  const decipher = createDecipheriv("aes-256-cbc", aes, iv);
  return Uint8Array.from([...decipher.update(pickle.subarray(0, -MAC_LENGTH)), ...decipher.final()]);
}

/** A pickle that holds it. */
export function seal(content: Uint8Array, key: string): Uint8Array {
  const { aes, mac, iv } = keys(key);
  const cipher = createCipheriv("aes-256-cbc", aes, iv);
  const ciphertext = Uint8Array.from([...cipher.update(content), ...cipher.final()]);
  const tag = createHmac("sha256", mac).update(ciphertext).digest().subarray(0, MAC_LENGTH);
  return Uint8Array.from([...ciphertext, ...tag]);
}
