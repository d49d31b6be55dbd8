/**
 * What a key file begins with, and the keys that protect it.
 *
 * A byte with the version comes first, then the salt, the first counter block, and the number of
 * rounds with which the keys are derived from the passphrase. What is encrypted follows, and at the
 * end the MAC of all before it.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-exports | Key exports}
 * @module
 */

import { abortable } from "@std/async/abortable";
import { concat } from "@std/bytes/concat";
import type { Hmac } from "node:crypto";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { CounterMode, hashPassphrase, MAX_ITERATIONS, newCounter } from "../ciphers/ciphers.ts";
import { unusable } from "./armor.ts";

type Bytes = Uint8Array<ArrayBuffer>;

const VERSION = 1;
const SALT_BYTES = 16;
const IV_AT = 1 + SALT_BYTES;
const ROUNDS_AT = IV_AT + 16;

/** The length of the head, in bytes. */
export const HEAD_BYTES: number = ROUNDS_AT + 4;
/** The length of the MAC, in bytes. */
export const MAC_BYTES = 32;

/** What a key file begins with. */
export interface KeyFileHead {
  /** Has each file use other keys. */
  readonly salt: Bytes;
  /** The first counter block. */
  readonly iv: Bytes;
  /** How often the passphrase is hashed: the more, the longer it takes to guess. */
  readonly rounds: number;
}

/** The keys of a file, for one pass over it. */
export interface KeyFileKeys {
  /** Encrypts and decrypts. */
  readonly mode: CounterMode;
  /** Computes the MAC. */
  readonly mac: Hmac;
}

/** Makes the head of a new file. */
export function newHead(rounds: number): KeyFileHead {
  return { salt: crypto.getRandomValues(new Uint8Array(SALT_BYTES)), iv: newCounter(), rounds };
}

/** Writes a head. */
export function writeHead({ salt, iv, rounds }: KeyFileHead): Bytes {
  const count = new Uint8Array(4);
  new DataView(count.buffer).setUint32(0, rounds);
  return concat([Uint8Array.of(VERSION), salt, iv, count]);
}

/**
 * Reads the head of a file.
 *
 * @throws {KeyFileError} If it is of another version, or has too many rounds or none.
 */
export function readHead(bytes: Bytes): KeyFileHead {
  if (bytes[0] !== VERSION) throw unusable("its version is not known; export the keys anew");
  const rounds = new DataView(bytes.buffer, bytes.byteOffset).getUint32(ROUNDS_AT);
  if (rounds === 0 || rounds > MAX_ITERATIONS) {
    throw unusable(
      `it wants ${rounds} rounds, and 1 to ${MAX_ITERATIONS} are computed; export the keys with fewer`,
    );
  }
  return { salt: bytes.slice(1, IV_AT), iv: bytes.slice(IV_AT, ROUNDS_AT), rounds };
}

/** Derives the keys of a file. What of them is in the hands of JavaScript is wiped. */
export async function deriveKeys(
  { salt, iv, rounds }: KeyFileHead,
  { passphrase, signal }: { readonly passphrase: string; readonly signal: AbortSignal | undefined },
): Promise<KeyFileKeys> {
  const hashing = hashPassphrase(passphrase, { salt, iterations: rounds, bits: 512 });
  const keys = await (signal === undefined ? hashing : abortable(hashing, signal));
  try {
    const mode = new CounterMode(keys.slice(0, 32), iv);
    return { mode, mac: (await nodeCrypto()).createHmac("sha256", keys.subarray(32)) };
  } finally {
    keys.fill(0);
  }
}
