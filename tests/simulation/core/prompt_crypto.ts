/**
 * Parts of `crypto.subtle` that answer at once: keys are their bytes.
 *
 * @module
 */

import { createCipheriv, createDecipheriv, createPublicKey, hkdfSync, verify } from "node:crypto";

const SPKI_PREFIX = Uint8Array.fromHex("302a300506032b6570032100");
/** How long the tag of AES-GCM is, in bytes. */
const TAG = 16;

/** HKDF's parameters. */
interface Derivation {
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
}

/** AES-GCM's parameters. */
interface Cipher {
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
}

/** What replaces the functions of the same names. */
export const prompt = {
  importKey: (_format: string, key: Uint8Array) => Promise.resolve(key),
  verify: (_algorithm: unknown, key: Uint8Array, signature: Uint8Array, text: Uint8Array) => {
    const der = new Uint8Array([...SPKI_PREFIX, ...key]);
    const publicKey = createPublicKey({ key: der as never, format: "der", type: "spki" });
    return Promise.resolve(verify(null, text, publicKey, signature));
  },
  deriveKey: ({ salt, info }: Derivation, material: Uint8Array) =>
    Promise.resolve(new Uint8Array(hkdfSync("sha256", material, salt, info, 32))),
  encrypt: ({ iv, additionalData }: Cipher, key: Uint8Array, text: Uint8Array) => {
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    return Promise.resolve(
      new Uint8Array([...cipher.update(text), ...cipher.final(), ...cipher.getAuthTag()]).buffer,
    );
  },
  decrypt: async ({ iv, additionalData }: Cipher, key: Uint8Array, sealed: Uint8Array) => {
    const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
    const text = decipher.update(sealed.subarray(0, sealed.length - TAG));
    return await Promise.resolve(new Uint8Array([...text, ...decipher.final()]).buffer);
  },
};
