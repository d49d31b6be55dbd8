/**
 * The text of a key file, base64 between two lines that say what it is;
 * its head and its keys; and how one is written.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { concat } from "@std/bytes/concat";
import { type Digest, platform } from "../../base/platform/mod.ts";
import { CounterMode, hashPassphrase, MAX_ITERATIONS, newCounter } from "../ciphers/ciphers.ts";
import { KeyFileError } from "../../errors/encryption_error.ts";
import { decodeBase64 } from "../../types/base64.ts";

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
  readonly mac: Digest;
}

/** Makes the head of a new file. */
function newHead(rounds: number): KeyFileHead {
  return { salt: crypto.getRandomValues(new Uint8Array(SALT_BYTES)), iv: newCounter(), rounds };
}

/** Writes a head. */
function writeHead({ salt, iv, rounds }: KeyFileHead): Bytes {
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
    return { mode, mac: (await platform.crypto()).createHmac("sha256", keys.subarray(32)) };
  } finally {
    keys.fill(0);
  }
}

const BEGIN = "-----BEGIN MEGOLM SESSION DATA-----";
const END = "-----END MEGOLM SESSION DATA-----";

/** The bytes of a line, which are 96 characters, as Element writes them. */
const LINE_BYTES = 72;

/** Writes the text, as its bytes come. */
class ArmorWriter {
  #rest: Bytes = new Uint8Array();
  #begun = false;

  /** Adds bytes; returns the lines that are full. */
  add(bytes: Uint8Array): Bytes {
    const all = concat([this.#rest, bytes]);
    const full = all.length - all.length % LINE_BYTES;
    this.#rest = all.slice(full);
    return this.#lines(all.subarray(0, full));
  }

  /** Returns the rest of the text. */
  end(): Bytes {
    return concat([this.#lines(this.#rest), new TextEncoder().encode(`${END}\n`)]);
  }

  #lines(bytes: Bytes): Bytes {
    const lines = this.#begun ? [] : [BEGIN];
    this.#begun = true;
    for (let start = 0; start < bytes.length; start += LINE_BYTES) {
      lines.push(bytes.subarray(start, start + LINE_BYTES).toBase64());
    }
    return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  }
}

/**
 * Reads the text, whatever stands before its first line and behind its last.
 *
 * @param blocks The text as bytes; the first block has the first line.
 * @returns The bytes in it, in parts.
 * @throws {KeyFileError} If it is no such text, cut off, or no base64.
 */
export async function* readArmor(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Bytes> {
  const decoder = new TextDecoder("latin1"); // one character for each byte; what is not ASCII is no base64
  let text = "";
  let isInside = false;
  for await (const block of blocks) {
    text += decoder.decode(block);
    if (!isInside) {
      const start = text.indexOf(BEGIN);
      if (start < 0) throw unusable("it is none; use what was exported as one, from its first line on");
      text = text.slice(start + BEGIN.length);
      isInside = true;
    }
    const end = text.indexOf("-"); // which is not in base64
    const clean = (end < 0 ? text : text.slice(0, end)).replaceAll(/\s+/g, "");
    const whole = end < 0 ? clean.length - clean.length % 4 : clean.length;
    const bytes = decodeBase64(clean.slice(0, whole));
    if (bytes === undefined) throw damaged();
    yield bytes;
    text = clean.slice(whole) + (end < 0 ? "" : text.slice(end));
    if (end >= 0 && text.length >= END.length) {
      if (text.startsWith(END)) return;
      throw damaged();
    }
  }
  throw unusable("its end is missing; get all of it");
}

/** The error for a file that is not as it was written. */
export function damaged(): KeyFileError {
  return unusable("it is damaged; get it again from where it was made");
}

/** The error for a file that can't be used. */
export function unusable(why: string): KeyFileError {
  return new KeyFileError(`Cannot import the key file: ${why}`, { problem: "format" });
}

const AES_BLOCK = 16;

/** How to protect a key file. */
export interface KeyFileProtection {
  readonly passphrase: string;
  /** How often it is hashed. */
  readonly rounds: number;
  /** Aborts the writing. */
  readonly signal?: AbortSignal;
}

/**
 * Writes a file, as its content comes.
 *
 * @param content The content, in parts.
 * @param protection How to protect it.
 */
export async function* writeKeyFile(
  content: AsyncIterable<string>,
  { passphrase, rounds, signal }: KeyFileProtection,
): AsyncGenerator<Bytes> {
  const armor = new ArmorWriter();
  const head = newHead(rounds);
  const { mode, mac } = await deriveKeys(head, { passphrase, signal });
  const begin = writeHead(head);
  mac.update(begin);
  yield armor.add(begin);
  let rest: Bytes = new Uint8Array();
  for await (const part of content) {
    signal?.throwIfAborted();
    const all = concat([rest, new TextEncoder().encode(part)]);
    rest.fill(0);
    const whole = all.length - all.length % AES_BLOCK;
    const encrypted = await mode.apply(all.subarray(0, whole));
    rest = all.slice(whole);
    all.fill(0);
    mac.update(encrypted);
    yield armor.add(encrypted);
  }
  const last = await mode.apply(rest);
  mac.update(last);
  yield concat([armor.add(last), armor.add(mac.digest()), armor.end()]);
}
