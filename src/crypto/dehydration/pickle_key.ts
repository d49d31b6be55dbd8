/**
 * The key that encrypts the private keys of dehydrated devices: who has it reads what was sent to
 * them.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import { decodeBase64, encodeBase64 } from "../encoding/base64.ts";

const KEY_BYTES = 32;

/** The secret that holds it in secret storage: the name that clients write, and the one to come. */
export const PICKLE_KEY_SECRETS = ["org.matrix.msc3814", "m.dehydrated_device"] as const;

/** A key that nobody has. */
export function newPickleKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** Writes it as a secret. */
export function pickleKeySecret(key: Uint8Array): string {
  return encodeBase64(key);
}

/** Reads it from a secret; undefined if the secret is none. */
export function readPickleKey(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64(secret);
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}
