/**
 * Values as records.
 *
 * @module
 */

import { deserialize, serialize } from "node:v8";
import { StoreFormatError } from "../../errors/store_error.ts";
import { decodeValue } from "../value_codec.ts";

/** Where the parts are of a value that does not fit into one record. */
export interface SplitValue {
  /** The identifier of the parts, used once. */
  readonly id: string;
  /** How many there are. */
  readonly parts: number;
}

/** The first byte of a record says what follows. */
const WHOLE = 0;
const SPLIT = 1;

/**
 * What is kept for a value that fits into one record.
 *
 * @param bytes What `encodeValue()` made of it.
 */
export function wholeRecord(bytes: Uint8Array): Uint8Array {
  return tagged(WHOLE, bytes);
}

/** What is kept in the place of a value that does not. */
export function splitRecord({ id, parts }: SplitValue): Uint8Array {
  return tagged(SPLIT, serialize({ id, parts }));
}

/** What a record holds: the value, or where its parts are. */
export function readRecord(record: unknown): { readonly value: unknown } | { readonly split: SplitValue } {
  if (record instanceof Uint8Array) {
    if (record[0] === WHOLE) return { value: decodeValue(record.subarray(1)) };
    if (record[0] === SPLIT) return { split: deserialize(record.subarray(1)) as SplitValue }; // splitRecord() made it
  }
  throw new StoreFormatError(
    "Cannot read a record of the store: its format is unknown; use the version of Greenroom that wrote it, or a newer one",
  );
}

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const record = new Uint8Array(bytes.length + 1);
  record[0] = tag;
  record.set(bytes, 1);
  return record;
}
