/**
 * The public halves of one-time keys, one behind the other: one value in a record, however many there are.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";

/** How many bytes a public key has. */
const KEY_BYTES = 32;

/** Appends keys to packed ones. */
export function withKeys(packed: Uint8Array, keys: readonly Uint8Array[]): Uint8Array {
  return concat([packed, ...keys]);
}

/** Removes a key from packed ones; returns the same array if it is not among them. */
export function withoutKey(packed: Uint8Array, key: Uint8Array): Uint8Array {
  for (let start = 0; start < packed.length; start += KEY_BYTES) {
    const end = start + KEY_BYTES;
    if (!packed.subarray(start, end).every((byte, index) => byte === key[index])) continue;
    return concat([packed.subarray(0, start), packed.subarray(end)]);
  }
  return packed;
}

/** Splits off the oldest of packed keys. */
export function oldestKey(packed: Uint8Array): { key: Uint8Array; rest: Uint8Array } | undefined {
  if (packed.length === 0) return undefined;
  return { key: packed.slice(0, KEY_BYTES), rest: packed.slice(KEY_BYTES) };
}
