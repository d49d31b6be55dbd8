/**
 * The messages of KV Connect, in the encoding of Protocol Buffers; keys are bytes that sort as the keys do.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { StoreFormatError } from "../../errors/store_error.ts";
import type { KvRecord } from "./database.ts";

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

/** A range of keys to read. */
export interface WireRange {
  /** The first key that may be read. */
  readonly start: Uint8Array;
  /** The key behind the last. */
  readonly end: Uint8Array;
  /** How many entries at most. */
  readonly limit: number;
}

/** A write of an atomic operation. */
interface WireWrite {
  readonly key: Deno.KvKey;
  /** The new record; `undefined` removes the entry. */
  readonly record: Uint8Array | undefined;
  /** From when on the server may remove it, in milliseconds since 1970; never by default. */
  readonly expireAt?: number;
}

/** The encoding of a value of bytes. */
const ENCODING_BYTES = 3;
const MUTATION_SET = 1;
const MUTATION_DELETE = 2;

/** The status of a write or a read. */
const SUCCESS = 1;
const CHECK_FAILURE = 2;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

/** Encodes a read. */
export function encodeRead(ranges: readonly WireRange[]): Uint8Array<ArrayBuffer> {
  return message(
    ranges.map(({ start, end, limit }) => nested(1, [bytes(1, start), bytes(2, end), number(3, limit)])),
  );
}

/**
 * Decodes the answer to a read.
 *
 * @returns The entries of each range; `undefined` if the server has disabled reads.
 */
export function decodeRead(answer: Uint8Array): Deno.KvEntry<unknown>[][] | undefined {
  const ranges: Deno.KvEntry<unknown>[][] = [];
  for (const [field, value] of fields(answer)) {
    if (field === 1) ranges.push(Array.from(fields(bytesOf(value)), ([, entry]) => entryOf(bytesOf(entry))));
    else if ((field === 2 && value === 1) || (field === 8 && value !== SUCCESS)) return undefined;
  }
  return ranges;
}

/** Encodes a write. */
export function encodeWrite(
  checks: readonly Deno.AtomicCheck[],
  writes: readonly WireWrite[],
): Uint8Array<ArrayBuffer> {
  return message([
    ...checks.map(({ key, versionstamp }) =>
      nested(1, [bytes(1, encodeKey(key)), bytes(2, Uint8Array.fromHex(versionstamp ?? ""))])
    ),
    ...writes.map(({ key, record, expireAt }) =>
      nested(2, [
        bytes(1, encodeKey(key)),
        ...(record === undefined ? [] : [nested(2, [bytes(1, record), number(2, ENCODING_BYTES)])]),
        number(3, record === undefined ? MUTATION_DELETE : MUTATION_SET),
        ...(expireAt === undefined ? [] : [number(4, expireAt)]),
      ])
    ),
  ]);
}

/**
 * Decodes the answer to a write.
 *
 * @returns The versionstamp, or `undefined` in it if a check failed; `undefined` if the server has
 * disabled writes.
 */
export function decodeWrite(answer: Uint8Array): { readonly versionstamp: string | undefined } | undefined {
  let status: unknown;
  let versionstamp: string | undefined;
  for (const [field, value] of fields(answer)) {
    if (field === 1) status = value;
    else if (field === 2) versionstamp = bytesOf(value).toHex();
  }
  if (status === SUCCESS && versionstamp !== undefined) return { versionstamp };
  return status === CHECK_FAILURE ? { versionstamp: undefined } : undefined;
}

/** The range of one key alone. */
export function rangeOf(key: Deno.KvKey): WireRange {
  const start = encodeKey(key);
  return { start, end: concat([start, Uint8Array.of(0)]), limit: 1 };
}

/** The entry of a range of one key. */
export function recordOf(key: Deno.KvKey, [entry]: Deno.KvEntry<unknown>[] = []): KvRecord {
  return entry ?? { key, value: null, versionstamp: null };
}

function entryOf(entry: Uint8Array): Deno.KvEntry<unknown> {
  let key: Deno.KvKey = [];
  let value: Uint8Array = new Uint8Array();
  let encoding: unknown;
  let versionstamp = "";
  for (const [field, content] of fields(entry)) {
    if (field === 1) key = decodeKey(bytesOf(content));
    else if (field === 2) value = bytesOf(content);
    else if (field === 3) encoding = content;
    else if (field === 4) versionstamp = bytesOf(content).toHex();
  }
  return { key, value: encoding === ENCODING_BYTES ? value : { encoding }, versionstamp };
}

/** Bytes that follow one another. */
type Pieces = readonly Uint8Array[];

function message(parts: readonly Pieces[]): Uint8Array<ArrayBuffer> {
  return concat(parts.flat());
}

function nested(field: number, parts: readonly Pieces[]): Pieces {
  const pieces = parts.flat();
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return [Uint8Array.of(...varint(field * 8 + LENGTH), ...varint(length)), ...pieces];
}

function bytes(field: number, content: Uint8Array): Pieces {
  return nested(field, [[content]]);
}

function number(field: number, value: number): Pieces {
  return [Uint8Array.of(...varint(field * 8 + VARINT), ...varint(value))];
}

/** Seven bits a byte, the lowest first; not by shifts, which end at 32 bits. */
function varint(value: number): number[] {
  const found: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) found.push(left % 128 + 128);
  return [...found, left];
}

/** The fields of a message, with a number or bytes; fields of other types are skipped. */
function* fields(content: Uint8Array): Generator<[field: number, value: number | Uint8Array]> {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = content[at++];
      if (byte === undefined) throw malformed();
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  const skip = (length: number): Uint8Array => {
    const start = at;
    at += length;
    if (at > content.length) throw malformed();
    return content.subarray(start, at);
  };
  while (at < content.length) {
    const tag = next();
    const type = tag % 8;
    if (type === VARINT) yield [Math.floor(tag / 8), next()];
    else if (type === LENGTH) yield [Math.floor(tag / 8), skip(next())];
    else if (type === FIXED64) skip(8);
    else if (type === FIXED32) skip(4);
    else throw malformed();
  }
}

function bytesOf(value: number | Uint8Array): Uint8Array {
  if (typeof value === "number") throw malformed();
  return value;
}

function malformed(): StoreFormatError {
  return new StoreFormatError(
    "Cannot read what the server answers: it is not KV Connect; look at the address",
  );
}
