/**
 * Keys as bytes that sort as the keys do: the encoding of Deno KV, and of the network.
 *
 * @module
 */

import { StoreFormatError } from "../../errors/store_error.ts";

/** The kind of the part that follows. */
const BYTES = 0x01;
const STRING = 0x02;
const DOUBLE = 0x21;
const FALSE = 0x26;
const TRUE = 0x27;

/** Ends bytes and strings; one of their own is followed by {@link ESCAPED}. */
const END = 0x00;
const ESCAPED = 0xff;

const DOUBLE_BYTES = 8;

/** Encodes a key of strings and numbers. */
export function encodeKey(key: Deno.KvKey): Uint8Array {
  const bytes: number[] = [];
  for (const part of key) {
    if (typeof part === "string") pushText(bytes, part);
    else {
      bytes.push(DOUBLE);
      for (const byte of doubleBytes(Number(part))) bytes.push(byte);
    }
  }
  return Uint8Array.from(bytes);
}

/**
 * Decodes a key.
 *
 * @throws {StoreFormatError} If it has parts that no key of the store has.
 */
export function decodeKey(bytes: Uint8Array): Deno.KvKey {
  const key: Deno.KvKeyPart[] = [];
  for (let at = 0; at < bytes.length;) {
    const kind = bytes[at++];
    if (kind === STRING || kind === BYTES) {
      const [content, end] = contentFrom(bytes, at);
      key.push(kind === STRING ? new TextDecoder().decode(content) : content);
      at = end;
    } else if (kind === DOUBLE) {
      key.push(doubleOf(bytes.slice(at, at + DOUBLE_BYTES)));
      at += DOUBLE_BYTES;
    } else if (kind === FALSE || kind === TRUE) key.push(kind === TRUE);
    else {throw new StoreFormatError(
        "Cannot read a key of the database: it has a part of an unknown kind; use another one",
      );}
  }
  return key;
}

function pushText(bytes: number[], text: string): void {
  bytes.push(STRING);
  for (const byte of new TextEncoder().encode(text)) {
    bytes.push(byte);
    if (byte === END) bytes.push(ESCAPED);
  }
  bytes.push(END);
}

/** The content from an index on, and the index behind its end. */
function contentFrom(bytes: Uint8Array, from: number): [Uint8Array<ArrayBuffer>, number] {
  const content: number[] = [];
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] ?? END;
    if (byte === END && bytes[at + 1] !== ESCAPED) break;
    content.push(byte);
    if (byte === END) at++;
  }
  return [Uint8Array.from(content), at + 1];
}

/**
 * Sorts as the numbers do: of positive ones the first bit is set, of negative ones all bits are
 * inverted.
 */
function doubleBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(DOUBLE_BYTES);
  const view = new DataView(bytes.buffer);
  view.setFloat64(0, value);
  const bits = view.getBigInt64(0);
  view.setBigInt64(0, bits < 0n ? ~bits : bits ^ (-1n << 63n));
  return bytes;
}

function doubleOf(bytes: Uint8Array<ArrayBuffer>): number {
  if (bytes.length < DOUBLE_BYTES) return NaN;
  const view = new DataView(bytes.buffer);
  const bits = view.getBigInt64(0);
  view.setBigInt64(0, bits < 0n ? bits ^ (-1n << 63n) : ~bits);
  return view.getFloat64(0);
}
