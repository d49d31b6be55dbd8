/**
 * The account data of a secret: its ciphertexts, by the ID of the key that each is for.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#secret-storage | Secret storage}
 * @module
 */

import { printable, ValueError } from "../../errors/matrix_error.ts";
import { SecretStorageError } from "../../errors/encryption_error.ts";
import { encryptedSecret } from "../../types/checks/account_data_shapes.ts";
import { shapeOf } from "../../types/checks/content_shapes.ts";
import type { EncryptedSecret } from "../../types/content/account_data_content.ts";
import { decodeBase64 } from "../../types/base64.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";
import { KEY_BYTES } from "./recovery_key.ts";

export {
  decodeRecoveryKey,
  encodeRecoveryKey,
  KEY_BYTES,
  KEY_OF_BOT,
  keyOfPassphrase,
  newHashing,
  openerOf,
  type PassphraseHashing,
  STORAGE_OPENER,
  type StorageOpener,
} from "./recovery_key.ts";
export {
  describe,
  hashingOf,
  type KeyDescription,
  readDescription,
  shown,
  StorageKey,
} from "./storage_key.ts";

/** The length of the longest name, in bytes of UTF-8: that of types of event. */
const MAX_NAME = 255;

/** What describes the keys, and is no secret. */
const RESERVED = /^m\.secret_storage\./;

// deno-lint-ignore no-control-regex -- no database has to take them
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Checks the name of a secret.
 *
 * @throws {ValueError} If it can't be one.
 */
export function checkSecretName(name: string): void {
  const why = problemOf(name);
  if (why === undefined) return;
  throw new ValueError(
    `Cannot use the name of a secret: ${why}; name it after a domain that you own, as in com.example.token`,
  );
}

/** Returns whether a secret can have a name. */
export function isSecretName(name: string): boolean {
  return problemOf(name) === undefined;
}

function problemOf(name: string): string | undefined {
  if (typeof name !== "string" || name === "") return "it is empty";
  if (!name.isWellFormed() || CONTROL.test(name)) return "it has characters that are no text";
  if (new TextEncoder().encode(name).length > MAX_NAME) return `it has more than ${MAX_NAME} bytes`;
  if (name === "." || name === "..") return "no URL can carry it";
  const shape: unknown = shapeOf("account_data", name);
  if (RESERVED.test(name) || shape !== undefined && shape !== encryptedSecret) {
    return `${name} is something else in Matrix`;
  }
  return undefined;
}

/**
 * The ciphertexts of a secret.
 *
 * @returns Undefined if there is no secret: nothing, or what was deleted.
 * @throws {SecretStorageError} If there is something else.
 */
export function ciphertextsOf(name: string, content: JsonObject | undefined): JsonObject | undefined {
  if (content === undefined || Object.keys(content).length === 0) return undefined;
  if (isJsonObject(content.encrypted)) return content.encrypted;
  throw new SecretStorageError(
    `Cannot use the account data "${printable(name)}" as a secret: it is something else; use another name`,
    { problem: "not-secret" },
  );
}

/** Returns what a secret holds for a key; undefined if it holds nothing for it. */
export function ciphertextFor(content: JsonObject | undefined, keyId: string): unknown {
  const encrypted = content?.encrypted;
  return isJsonObject(encrypted) && Object.hasOwn(encrypted, keyId) ? encrypted[keyId] : undefined;
}

/** A secret with a ciphertext more, or another one; what is there for other keys stays. */
export function withCiphertext(
  content: JsonObject | undefined,
  keyId: string,
  ciphertext: EncryptedSecret,
): JsonObject {
  const encrypted = objectOf(content?.encrypted);
  return { ...content, encrypted: { ...encrypted, [keyId]: ciphertext } };
}

/** A secret without what it holds for a key, if it holds something. */
export function withoutCiphertext(content: JsonObject, keyId: string): JsonObject {
  const { [keyId]: _, ...rest } = content.encrypted as JsonObject;
  return { ...content, encrypted: rest };
}

/**
 * Reads a private key from a secret.
 *
 * @returns The 32 bytes, which are the caller's to wipe; undefined if the secret is none.
 */
export function readKeySecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64(secret);
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}
