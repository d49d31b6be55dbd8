/**
 * Values as bytes.
 *
 * @module
 */

import { deserialize, serialize } from "node:v8";
import { StoreFormatError } from "../errors/store_error.ts";
import { ValueError } from "../errors/value_error.ts";

/**
 * Makes bytes of plain data, with whatever structured clone can carry; of a view, only what it shows of its buffer.
 *
 * @throws {ValueError} If it is not plain data.
 */
export function encodeValue(value: unknown): Uint8Array {
  try {
    return serialize(value);
  } catch (cause) {
    throw new ValueError("Cannot store a value: it is not plain data; leave out functions and the like", {
      cause,
    });
  }
}

/**
 * Makes plain data of bytes again.
 *
 * @throws {StoreFormatError} If {@link encodeValue} has not made them.
 */
export function decodeValue(bytes: Uint8Array): unknown {
  try {
    return deserialize(bytes);
  } catch (cause) {
    throw new StoreFormatError(
      "Cannot read a value of the store: it is damaged; restore the store from a copy",
      {
        cause,
      },
    );
  }
}

/** Whether bytes are the same: those of a value that has not changed are, if it was encoded once before. */
export function sameBytes(some: Uint8Array, others: Uint8Array): boolean {
  return some.length === others.length && some.every((byte, index) => byte === others[index]);
}
