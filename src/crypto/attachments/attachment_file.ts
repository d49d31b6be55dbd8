/**
 * The description of an encrypted file in a message, checked.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#extensions-to-mroommessage-msgtypes | EncryptedFile}
 * @module
 */

import { AttachmentError } from "../../errors/encryption_error.ts";
import type { EncryptedFileSecrets } from "../../types/api/attachment_cipher.ts";
import { isJsonObject } from "../../types/json.ts";

/** What decrypts a file, as bytes. */
export interface AttachmentSecrets {
  /** The key of AES: 32 bytes. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** The first counter block: 16 bytes. */
  readonly iv: Uint8Array<ArrayBuffer>;
  /** The SHA-256 of the encrypted bytes: 32 bytes. */
  readonly sha256: Uint8Array<ArrayBuffer>;
}

/**
 * Reads the description of an encrypted file, which may be anything.
 *
 * `ext` and unspecified members are ignored: they change nothing.
 *
 * @throws {AttachmentError} If the file can't be decrypted with it.
 */
export function readSecrets(file: unknown): AttachmentSecrets {
  if (!isJsonObject(file)) throw malformed("it is no object");
  if (file.v !== "v2") throw malformed("its version is not v2");
  const { key, hashes } = file;
  if (!isJsonObject(key)) throw malformed("it has no key");
  if (key.kty !== "oct") throw malformed("its key is not of type oct");
  if (key.alg !== "A256CTR") throw malformed("its key is not for A256CTR");
  const operations: unknown = key.key_ops;
  if (!Array.isArray(operations) || !["encrypt", "decrypt"].every((name) => operations.includes(name))) {
    throw malformed("its key is not for encrypting and decrypting");
  }
  if (!isJsonObject(hashes) || !Object.hasOwn(hashes, "sha256")) throw malformed("it has no SHA-256");
  return {
    key: decoded("key", key.k, "base64url", 32),
    iv: decoded("iv", file.iv, "base64", 16),
    sha256: decoded("SHA-256", hashes.sha256, "base64", 32),
  };
}

/** Writes the description of an encrypted file. */
export function writeSecrets({ key, iv, sha256 }: AttachmentSecrets): EncryptedFileSecrets {
  const k = key.toBase64({ alphabet: "base64url", omitPadding: true });
  return {
    v: "v2",
    key: { kty: "oct", alg: "A256CTR", ext: true, key_ops: ["encrypt", "decrypt"], k },
    iv: iv.toBase64({ omitPadding: true }),
    hashes: { sha256: sha256.toBase64({ omitPadding: true }) },
  };
}

/** Decodes base64, with or without padding. */
function decoded(
  name: string,
  value: unknown,
  alphabet: "base64" | "base64url",
  length: number,
): Uint8Array<ArrayBuffer> {
  const wrong = (): AttachmentError => malformed(`its ${name} is not ${length} bytes in ${alphabet}`);
  // Checked first: the decoder skips white space, and a long value must not be decoded only to be
  // refused.
  if (typeof value !== "string" || value.length > 48 || /\s/.test(value)) throw wrong();
  try {
    const bytes = Uint8Array.fromBase64(value, { alphabet });
    if (bytes.length === length) return bytes;
  } catch {
    // reported below, without the decoder's error
  }
  throw wrong();
}

function malformed(state: string): AttachmentError {
  return new AttachmentError(`Cannot use the encrypted file: ${state}; have it sent again`, {
    problem: "file",
  });
}
