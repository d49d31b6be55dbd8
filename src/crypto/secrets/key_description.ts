/**
 * What the server keeps of a key of secret storage: anything but the key. A server can change it at
 * will, so that it is checked and bounded, and proves nothing by itself.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-storage | Key storage}
 * @module
 */

import { printable } from "../../errors/printable.ts";
import { SecretStorageError } from "../../errors/secret_storage_error.ts";
import type { SecretStorageKeyContent } from "../../types/content/account_data_content.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { encodeBase64 } from "../../types/base64.ts";
import { MAX_ITERATIONS } from "../ciphers/ciphers.ts";
import { KEY_BYTES, MAX_SALT, MIN_ITERATIONS, type PassphraseHashing } from "./recovery_key.ts";
import { type CheckValue, readCheck, type StorageKey } from "./storage_key.ts";

const ALGORITHM = "m.secret_storage.v1.aes-hmac-sha2";
const PBKDF2 = "m.pbkdf2";

/** What is known of a key. */
export interface KeyDescription {
  readonly keyId: string;
  /** The key's name; undefined if it has none. */
  readonly name: string | undefined;
  /** What shows that a key is this one; undefined if nothing in the description does. */
  readonly check: CheckValue | undefined;
  /** How to make it from a passphrase, unchecked; undefined if it was not made from one. */
  readonly passphrase: JsonObject | undefined;
}

/**
 * Reads the description of a key.
 *
 * @throws {SecretStorageError} If there is none, or it is not what the specification says.
 */
export function readDescription(keyId: string, content: JsonObject | undefined): KeyDescription {
  if (content === undefined || Object.keys(content).length === 0) {
    const message = `Cannot open the secret storage: the description of its key ${shown(keyId)} is gone; ` +
      "make a new key with secretStorage.reset()";
    throw new SecretStorageError(message, { problem: "absent" });
  }
  const { algorithm, name, iv, mac, passphrase } = content;
  if (algorithm !== ALGORITHM) throw unusable(keyId, `its algorithm is not ${ALGORITHM}`);
  const isAbsent = (iv ?? undefined) === undefined || (mac ?? undefined) === undefined;
  const check = readCheck(iv, mac);
  if (!isAbsent && check === undefined) {
    throw unusable(keyId, "its iv and mac are no 16 and 32 bytes in base64");
  }
  return {
    keyId,
    name: typeof name === "string" ? name : undefined,
    check,
    passphrase: isJsonObject(passphrase) ? passphrase : undefined,
  };
}

/**
 * How a key is made from a passphrase.
 *
 * @throws {SecretStorageError} If it was not made from one, or in a way that is not supported.
 */
export function hashingOf({ keyId, passphrase }: KeyDescription): PassphraseHashing {
  if (passphrase === undefined) {
    const message = `Cannot open the secret storage: its key ${
      shown(keyId)
    } was not made from a passphrase; use its recovery key`;
    throw new SecretStorageError(message, { problem: "no-passphrase" });
  }
  const { algorithm, salt, iterations, bits = KEY_BYTES * 8 } = passphrase;
  if (algorithm !== PBKDF2 || bits !== KEY_BYTES * 8) {
    throw unusable(keyId, `it is not made from its passphrase by ${PBKDF2} with 256 bits`);
  }
  if (typeof salt !== "string" || salt.length > MAX_SALT) {
    throw unusable(keyId, "its salt is missing or too long");
  }
  if (!isCount(iterations) || iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS) {
    throw unusable(keyId, `its iterations are not from ${MIN_ITERATIONS} to ${MAX_ITERATIONS}`);
  }
  return { salt, iterations };
}

/** The description of a new key, as the server keeps it. */
export async function describe(
  key: StorageKey,
  hashing: PassphraseHashing | undefined,
): Promise<SecretStorageKeyContent> {
  const { iv, mac } = await key.newCheck();
  return {
    algorithm: ALGORITHM,
    iv: encodeBase64(iv),
    mac: encodeBase64(mac),
    ...hashing && { passphrase: { algorithm: PBKDF2, bits: KEY_BYTES * 8, ...hashing } },
  };
}

/** An ID, which the server may have chosen, in a message. */
export function shown(keyId: string): string {
  return printable(keyId, 64);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function unusable(keyId: string, why: string): SecretStorageError {
  const message =
    `Cannot use the key ${shown(keyId)} of the secret storage: ${why}, as its description on the ` +
    "server has it; open it with the client that made it, or make a new key with secretStorage.reset()";
  return new SecretStorageError(message, { problem: "unusable" });
}
