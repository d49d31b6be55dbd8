/**
 * Keys as bytes that sort as the keys do, for stores that keep no tuples.
 *
 * @module
 */

import { StoreFormatError } from "../../errors/store_error.ts";
import type { StoreKey } from "./store.ts";

/*
 * Each part is its UTF-8, which orders text by code point, and ends with a zero byte. A zero in the text has 0xFF behind
 * it, which no UTF-8 contains: so it comes after the end of a part, whatever the next one begins with. A surrogate
 * without its other half gets the three bytes that UTF-8 would have for it if it had any: they begin with 0xED and
 * something from 0xA0 on, and are in their place between U+D7FF and U+E000.
 */

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const END = 0;
const ITSELF = 0xff;
const SURROGATE = 0xed;
const FIRST_OF_SURROGATES = 0xa0;

/** Encodes a key; two keys compare as their bytes do. The keys below a key begin with its bytes. */
export function encodeKey(key: StoreKey): Uint8Array {
  let text = "";
  let zeros = false;
  for (const part of key) {
    text += part + "\0"; // which keeps halves of a pair apart that are in two parts
    zeros ||= part.includes("\0");
  }
  if (!zeros && text.isWellFormed()) return ENCODER.encode(text);
  return Uint8Array.from(key.flatMap((part) => [...Array.from(part, characterBytes).flat(), END]));
}

/** The end of the range below a key: no key that begins with these bytes comes after it. */
export function endOfRange(encoded: Uint8Array): Uint8Array {
  const end = new Uint8Array(encoded.length + 1);
  end.set(encoded);
  end[encoded.length] = ITSELF; // more than any part begins with
  return end;
}

/**
 * Decodes a key.
 *
 * @throws {StoreFormatError} If the bytes are not of {@link encodeKey}.
 */
export function decodeKey(bytes: Uint8Array): StoreKey {
  const plain = bytes.at(-1) === END && !bytes.includes(ITSELF) && !bytes.includes(SURROGATE);
  if (plain) return DECODER.decode(bytes.subarray(0, -1)).split("\0"); // at once: each call takes a microsecond
  const parts: string[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = endOfPart(bytes, start);
    parts.push(decodePart(bytes.subarray(start, end)));
    start = end + 1;
  }
  return parts;
}

function characterBytes(character: string): number[] {
  if (character === "\0") return [0, ITSELF];
  if (character.isWellFormed()) return [...ENCODER.encode(character)];
  const unit = character.charCodeAt(0);
  return [SURROGATE, 0x80 | (unit >> 6 & 0x3f), 0x80 | (unit & 0x3f)];
}

function endOfPart(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(END, start);
  while (end >= 0 && bytes[end + 1] === ITSELF) end = bytes.indexOf(END, end + 2);
  if (end >= 0) return end;
  throw new StoreFormatError("Cannot read a key of the store: it is damaged; restore the store from a copy");
}

function decodePart(bytes: Uint8Array): string {
  let text = "";
  let start = 0;
  for (let at = bytes.indexOf(SURROGATE); at >= 0; at = bytes.indexOf(SURROGATE, at + 1)) {
    const [second = 0, third = 0] = bytes.subarray(at + 1, at + 3);
    if (second < FIRST_OF_SURROGATES) continue;
    text += decodeText(bytes.subarray(start, at));
    text += String.fromCharCode(0xd000 | (second & 0x3f) << 6 | third & 0x3f);
    start = at + 3;
  }
  return text + decodeText(bytes.subarray(start));
}

function decodeText(bytes: Uint8Array): string {
  if (!bytes.includes(END)) return DECODER.decode(bytes);
  return DECODER.decode(bytes.filter((byte) => byte !== ITSELF)); // nothing else has that byte
}
