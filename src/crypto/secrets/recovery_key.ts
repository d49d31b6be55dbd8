/**
 * Keys as text that people copy: base58, in groups of four characters, with a byte of parity;
 * and keys that are made of passphrases.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#cryptographic-key-representation | Cryptographic key representation}
 * @module
 */

import { decodeBase58, encodeBase58 } from "@std/encoding/base58";
import { SecretStorageError } from "../../errors/encryption_error.ts";
import type { SecretStoragePassphrase } from "../../types/content/account_data_content.ts";
import { hashPassphrase } from "../ciphers/ciphers.ts";
import { recordKey } from "../records/mod.ts";

/** The length of a key, in bytes. */
export const KEY_BYTES = 32;

const PREFIX: readonly number[] = [0x8b, 0x01];
const BYTES = PREFIX.length + KEY_BYTES + 1;

/** All that begins with the prefix is as long. */
const CHARACTERS = 48;

/** Base58 as Bitcoin has it: without 0, O, I and l. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]*$/;

/** Where the key is that a bot was given, for errors that say to check it. */
export const KEY_OF_BOT = "(a bot: MATRIX_RECOVERY_KEY, or its file)";

/** Writes a key of 32 bytes. */
export function encodeRecoveryKey(key: Uint8Array): string {
  const bytes = Uint8Array.of(...PREFIX, ...key, 0);
  bytes[BYTES - 1] = parityOf(bytes);
  const groups = encodeBase58(bytes).match(/.{1,4}/g) ?? [];
  bytes.fill(0);
  return groups.join(" ");
}

/**
 * Reads a key. White space counts nowhere.
 *
 * @returns The 32 bytes, which are the caller's to wipe.
 * @throws {SecretStorageError} If it has a typing error.
 */
export function decodeRecoveryKey(text: string): Uint8Array<ArrayBuffer> {
  if (typeof text !== "string") throw mistyped("it is no text");
  const characters = text.replaceAll(/\s/g, "");
  if (characters === "") throw mistyped("it is empty");
  if (!BASE58.test(characters)) {
    throw mistyped("it has a character that no recovery key has, such as 0, O, I or l");
  }
  if (characters.length !== CHARACTERS) {
    throw mistyped(`it has ${characters.length} characters in place of ${CHARACTERS}`);
  }
  const bytes = decodeBase58(characters);
  try {
    if (parityOf(bytes) !== 0) throw mistyped("a character is another one than it should be");
    if (PREFIX.some((byte, index) => bytes[index] !== byte)) {
      throw mistyped("it begins like another kind of key");
    }
    return new Uint8Array(bytes.subarray(PREFIX.length, BYTES - 1));
  } finally {
    bytes.fill(0);
  }
}

/** 0 of a whole key; of one whose last byte is 0, what that byte must be. */
function parityOf(bytes: Uint8Array): number {
  return bytes.reduce((parity, byte) => parity ^ byte, 0);
}

function mistyped(why: string): SecretStorageError {
  const mend = `compare it with what was written down ${KEY_OF_BOT}`;
  const message = `Cannot read the recovery key: ${why}; ${mend}`;
  return new SecretStorageError(message, { problem: "mistyped" });
}

/** How often a new key's passphrase is hashed: as often as other clients do it. */
const ITERATIONS = 500_000;

/** Fewer would make a passphrase easy to find. No client writes so few. */
export const MIN_ITERATIONS = 1_000;

/** Longer salts are of no use. */
export const MAX_SALT = 1_024;

const SALT_BYTES = 24;

/** What of a key's description makes the key from a passphrase. */
export type PassphraseHashing = Pick<SecretStoragePassphrase, "salt" | "iterations">;

/** Chooses how a new key is made from a passphrase. */
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

/** What has opened the secret storage last. */
export interface StorageOpener {
  /** The ID of the key that it opened. */
  readonly keyId: string;
  /** What {@link openerOf} says of the recovery key; absent: it was a passphrase. */
  readonly recoveryKey?: string;
}

/** The record. */
export const STORAGE_OPENER = recordKey<StorageOpener>("own_identity", "opener");

/** Hashes are of use for nothing else by that. */
const PURPOSE = new TextEncoder().encode("greenroom: the key that has opened the secret storage\0");

/**
 * Returns what is kept of a recovery key: its hash.
 *
 * @throws {SecretStorageError} If it has a typing error.
 */
export async function openerOf(recoveryKey: string): Promise<string> {
  const key = decodeRecoveryKey(recoveryKey);
  const bytes = Uint8Array.of(...PURPOSE, ...key);
  try {
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toBase64();
  } finally {
    key.fill(0);
    bytes.fill(0);
  }
}
