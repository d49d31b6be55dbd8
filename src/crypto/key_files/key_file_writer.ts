/**
 * Writes key files.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { ArmorWriter } from "./armor.ts";
import { deriveKeys, newHead, writeHead } from "./key_file_keys.ts";

type Bytes = Uint8Array<ArrayBuffer>;

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
