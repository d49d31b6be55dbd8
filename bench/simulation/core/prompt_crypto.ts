/**
 * Parts of `crypto.subtle` that answer at once: keys are their bytes.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  hkdfSync,
  verify,
} from "node:crypto";

const SPKI_PREFIX = Uint8Array.fromHex("302a300506032b6570032100");
/** How long the tag of AES-GCM is, in bytes. */
const TAG = 16;

/** HKDF's parameters. */
interface Derivation {
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
}

/** The parameters of AES: in counter mode, or in Galois/counter mode. */
type Cipher =
  | { readonly name: "AES-CTR"; readonly counter: Uint8Array }
  | Galois;

/** Those of AES-GCM. */
interface Galois {
  readonly name: "AES-GCM";
  readonly iv: Uint8Array;
  readonly additionalData: Uint8Array;
}

function hmac(key: Uint8Array, text: Uint8Array): Uint8Array {
  return new Uint8Array(createHmac("sha256", key).update(text).digest());
}

/** Other functions would take time that is not virtual: whoever calls one is told. */
const missing = Object.fromEntries(
  Object.getOwnPropertyNames(SubtleCrypto.prototype).filter((name) => name !== "constructor").map((name) => [
    name,
    () => Promise.reject(new Error(`crypto.subtle.${name}() does not answer at once: add it here`)),
  ]),
);

/** What replaces the functions of the same names. */
export const prompt = {
  ...missing,
  digest: (_algorithm: "SHA-256", bytes: Uint8Array) =>
    Promise.resolve(new Uint8Array(createHash("sha256").update(bytes).digest()).buffer),
  importKey: (_format: string, key: Uint8Array) => Promise.resolve(key.slice()),
  sign: (_algorithm: "HMAC", key: Uint8Array, text: Uint8Array) => Promise.resolve(hmac(key, text).buffer),
  verify: (algorithm: unknown, key: Uint8Array, signature: Uint8Array, text: Uint8Array) => {
    if (algorithm === "HMAC") return Promise.resolve(hmac(key, text).toHex() === signature.toHex());
    const der = new Uint8Array([...SPKI_PREFIX, ...key]);
    const publicKey = createPublicKey({ key: der as never, format: "der", type: "spki" });
    return Promise.resolve(verify(null, text, publicKey, signature));
  },
  deriveKey: ({ salt, info }: Derivation, material: Uint8Array) =>
    Promise.resolve(new Uint8Array(hkdfSync("sha256", material, salt, info, 32))),
  deriveBits: ({ salt, info }: Derivation, material: Uint8Array, bits: number) =>
    Promise.resolve(hkdfSync("sha256", material, salt, info, bits / 8)),
  encrypt: (algorithm: Cipher, key: Uint8Array, text: Uint8Array) => {
    if (algorithm.name === "AES-CTR") {
      const counting = createCipheriv("aes-256-ctr", key, algorithm.counter);
      return Promise.resolve(concat([counting.update(text), counting.final()]).buffer);
    }
    const { iv, additionalData } = algorithm;
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    return Promise.resolve(
      concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]).buffer,
    );
  },
  decrypt: async ({ iv, additionalData }: Galois, key: Uint8Array, sealed: Uint8Array) => {
    const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(additionalData);
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
    const text = decipher.update(sealed.subarray(0, sealed.length - TAG));
    return await Promise.resolve(concat([text, decipher.final()]).buffer);
  },
};
