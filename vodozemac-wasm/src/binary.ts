/** Bytes in, and Base64 at the door. */

import { VodozemacError } from "./error.ts";

/** Binary input: raw bytes, or Base64 in the standard alphabet, padded or not. */
export type Binary = Uint8Array | string;

/**
 * Decodes Base64 strictly: padded or not, without white space, without stray bits in the last
 * character.
 *
 * @param text The Base64 text.
 * @param action What it is for, for the error.
 * @returns The bytes.
 * @throws {VodozemacError} `bad_base64`.
 */
export function decodeBase64(text: string, action: string): Uint8Array<ArrayBuffer> {
  const length = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  const complete = length === text.length ? text + "==".slice(0, (4 - length % 4) % 4) : text;
  let bytes;
  try {
    bytes = Uint8Array.fromBase64(complete, { lastChunkHandling: "strict" });
  } catch {
    // The engine's error quotes the text, which may be a secret.
    throw new VodozemacError("bad_base64", action);
  }
  // It skips white space; the length tells.
  if (bytes.length !== Math.floor(length * 3 / 4)) throw new VodozemacError("bad_base64", action);
  return bytes;
}

/**
 * The bytes of binary input.
 *
 * @param value Bytes or Base64.
 * @param action What it is for, for the error.
 * @param length How many bytes it must be; any number by default.
 * @returns The bytes; those given, not a copy of them, where bytes were given.
 * @throws {VodozemacError} `bad_type`, `bad_base64` or `bad_length`.
 */
export function toBytes(value: Binary, action: string, length?: number): Uint8Array {
  if (typeof value === "string") {
    // Before decoding, so that a long text costs nothing. Four characters hold three bytes.
    if (length !== undefined && value.length > length * 4 / 3 + 4) {
      throw new VodozemacError("bad_length", action);
    }
    value = decodeBase64(value, action);
  } else if (!(value instanceof Uint8Array)) {
    throw new VodozemacError("bad_type", action);
  }
  if (length !== undefined && value.length !== length) throw new VodozemacError("bad_length", action);
  return value;
}

/**
 * Unpadded Base64, as Matrix has it on the wire.
 *
 * @param bytes The bytes.
 * @returns The text.
 */
export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64({ omitPadding: true });
}
