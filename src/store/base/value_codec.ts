/**
 * Values as bytes, for stores that keep no objects: JSON, bytes with JSON around them, or what structured
 * clone makes of anything else.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { platform } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { StoreFormatError } from "../../errors/store_error.ts";
import type { StoreMutation } from "./store.ts";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The first byte of `serialize()`'s output, which no JSON begins with. */
const SERIALIZED = 0xff;

/** The first byte of JSON with bytes; as many for the length of the JSON follow. */
const WITH_BYTES = 0xfe;
const LENGTH_BYTES = 4;

/**
 * The depth and number of parts up to which a value is checked for JSON: a larger one may be
 * circular.
 */
const MAX_DEPTH = 32;
const MAX_PARTS = 10_000;

/**
 * Encodes plain data that structured clone supports; of a view, only what it shows of its buffer.
 *
 * Most values are JSON from a server, or bytes of encryption with some JSON around them. So they take a
 * third of the time of serialization (8 µs for a state event, 12 for a session), and none of its memory
 * outside of the heap (6 KB each until a garbage collection).
 *
 * @throws {ValueError} If it is not plain data.
 */
export function encodeValue(value: unknown): Uint8Array {
  if (isJson(value, { parts: MAX_PARTS, depth: MAX_DEPTH })) return ENCODER.encode(JSON.stringify(value));
  try {
    const mixed = mixedOf(value);
    return mixed === undefined ? platform.serialize(value) : encodeMixed(mixed); // not of a detached buffer
  } catch (cause) {
    throw new ValueError("Cannot store a value: it is not plain data; leave out functions and the like", {
      cause,
    });
  }
}

/**
 * Decodes a value. Views in it may share the memory of the bytes: give it a copy of what is kept.
 *
 * @throws {StoreFormatError} If the bytes are not of {@link encodeValue}.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    if (bytes[0] === WITH_BYTES) return decodeMixed(bytes);
    return bytes[0] === SERIALIZED ? platform.deserialize(bytes) : JSON.parse(DECODER.decode(bytes));
  } catch {
    // Without the parser's error: it quotes the text, which may hold a secret.
    throw new StoreFormatError(
      "Cannot read a value of the store: it is damaged; restore the store from a copy",
    );
  }
}

/**
 * Checks that the value of a change, if it has one, can be encoded; else throws what
 * {@link encodeValue} does.
 */
export function isEncodable(change: StoreMutation): true {
  if (change.type === "set") encodeValue(change.value);
  return true;
}

/** Returns whether a value survives JSON unchanged. */
function isJson(value: unknown, left: { parts: number; depth: number }): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || left.parts-- === 0 || left.depth-- === 0) return false;
  if (Array.isArray(value)) {
    // It has other properties than its items, or lacks items.
    if (Object.keys(value).length !== value.length || platform.isProxy(value)) return false;
    for (let index = 0; index < value.length; index++) if (!isJson(value[index], left)) return false;
  } else {
    const prototype = Object.getPrototypeOf(value);
    if ((prototype !== Object.prototype && prototype !== null) || platform.isProxy(value)) return false;
    for (const name in value) if (!isJson((value as Record<string, unknown>)[name], left)) return false;
  }
  left.depth++;
  return true;
}

/** An object of which some members are bytes, and all others JSON; or bytes alone, under the name "". */
interface Mixed {
  /** The JSON, with null in place of bytes; bytes alone have none. */
  readonly json: object | null;
  readonly bytes: readonly (readonly [name: string, bytes: Uint8Array])[];
}

/** Takes the bytes out of a value; undefined: they are elsewhere, or it has something else. */
function mixedOf(value: unknown): Mixed | undefined {
  if (isBytes(value)) return { json: null, bytes: [["", value]] };
  if (typeof value !== "object" || value === null || platform.isProxy(value)) return undefined;
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const bytes = Object.entries(value).filter((member): member is [string, Uint8Array] => isBytes(member[1]));
  if (bytes.length === 0) return undefined;
  const json = { ...value, ...Object.fromEntries(bytes.map(([name]) => [name, null])) };
  return isJson(json, { parts: MAX_PARTS, depth: MAX_DEPTH }) ? { json, bytes } : undefined;
}

/** Not of a subclass, nor with other properties than its numbers, which serialization leaves out. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && Object.getPrototypeOf(value) === Uint8Array.prototype;
}

/** First the JSON with the lengths of the bytes, and then these. */
function encodeMixed({ json, bytes }: Mixed): Uint8Array {
  const lengths = bytes.map(([name, { length }]) => [name, length]);
  const head = ENCODER.encode(JSON.stringify([json, lengths]));
  const start = new Uint8Array(1 + LENGTH_BYTES);
  start[0] = WITH_BYTES;
  new DataView(start.buffer).setUint32(1, head.length);
  return concat([start, head, ...bytes.map(([, part]) => part)]);
}

function decodeMixed(encoded: Uint8Array): unknown {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  let at = 1 + LENGTH_BYTES + view.getUint32(1);
  const [json, lengths] = JSON.parse(DECODER.decode(encoded.subarray(1 + LENGTH_BYTES, at)));
  let value: unknown = json;
  for (const [name, length] of lengths) {
    if (!(length >= 0)) throw new RangeError("Cannot read bytes: their number is none");
    const bytes = encoded.subarray(at, at += length);
    if (json === null) value = bytes;
    else json[name] = bytes; // its own, where null is: no name of all objects
  }
  if (at !== encoded.length) {
    throw new RangeError("Cannot read bytes: there are more or fewer than were written");
  }
  return value;
}
