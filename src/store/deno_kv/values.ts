/**
 * Values as records: whole, or in parts below a name that is used once.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { platform } from "../../base/platform/mod.ts";
import { StoreFormatError } from "../../errors/store_error.ts";
import {
  cutBytes,
  type KvDatabase,
  type KvWrite,
  listAll,
  MAX_RECORD_BYTES,
  partKey,
  partsKey,
  readMany,
  valueKey,
} from "./database.ts";
import type { DenoKvJournal } from "./journal.ts";
import { decodeValue, encodeValue, type StoreKey } from "../base/mod.ts";

/** The parts of a value that does not fit into one record. */
interface SplitValue {
  /** The identifier of the parts, used once. */
  readonly id: string;
  /** How many there are. */
  readonly parts: number;
}

/** The first byte of a record says what follows. */
const WHOLE = 0;
const SPLIT = 1;

/**
 * The record of a value that fits into one.
 *
 * @param bytes What `encodeValue()` made of it.
 */
function wholeRecord(bytes: Uint8Array): Uint8Array {
  return tagged(WHOLE, bytes);
}

/** The record of a value in parts. */
function splitRecord({ id, parts }: SplitValue): Uint8Array {
  return tagged(SPLIT, platform.serialize({ id, parts }));
}

/** Decodes a record: the value, or where its parts are. */
export function readRecord(record: unknown): { readonly value: unknown } | { readonly split: SplitValue } {
  if (record instanceof Uint8Array) {
    if (record[0] === WHOLE) return { value: decodeValue(record.subarray(1)) };
    // splitRecord() made it.
    if (record[0] === SPLIT) return { split: platform.deserialize(record.subarray(1)) as SplitValue };
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

/** The writes for a key. */
export interface EncodedChange {
  readonly key: StoreKey;
  /** Its record, and those of the parts. */
  readonly writes: readonly KvWrite[];
  /** The parts, if there are any. */
  readonly split: SplitValue | undefined;
}

/** Makes the writes that set a value. */
export function encodeSet(key: StoreKey, value: unknown): EncodedChange {
  const place = valueKey(key);
  const bytes = encodeValue(value);
  if (bytes.length < MAX_RECORD_BYTES) {
    return { key, writes: [{ key: place, record: wholeRecord(bytes) }], split: undefined };
  }
  const parts = cutBytes(bytes);
  const split: SplitValue = { id: crypto.randomUUID(), parts: parts.length };
  const writes = [
    { key: place, record: splitRecord(split) },
    { key: partsKey(split.id), record: encodeValue({ key, parts: parts.length }) },
    ...parts.map((record, index) => ({ key: partKey(split.id, index), record })),
  ];
  return { key, writes, split };
}

/** Makes the write that removes a value. */
export function encodeDelete(key: StoreKey): EncodedChange {
  return { key, writes: [{ key: valueKey(key), record: undefined }], split: undefined };
}

/** Reads the parts of a value; `undefined` if it was replaced meanwhile. */
export async function readParts(
  database: KvDatabase,
  { id, parts }: SplitValue,
): Promise<Uint8Array | undefined> {
  const keys = Array.from({ length: parts }, (_, index) => partKey(id, index));
  // encodeSet() wrote it.
  const found = (await readMany(database, keys)).map(({ value }) => value as Uint8Array | null);
  if (!found.every((part) => part !== null)) return undefined;
  return concat(found);
}

/**
 * The values that have parts, so that replacing one that has none needs no read.
 *
 * Values that another process writes are added when they are read. Replacing one unread leaves its
 * parts behind; the next {@link load} removes them.
 */
export class SplitIndex {
  readonly #splits = new Map<string, SplitValue>();

  /** Returns whether the current value has parts. */
  #has(key: StoreKey): boolean {
    return this.#find(key) !== undefined;
  }

  /** Notes the current value. */
  note(key: StoreKey, split: SplitValue | undefined): void {
    if (split !== undefined) this.#splits.set(JSON.stringify(key), split);
    else if (this.#has(key)) this.#splits.delete(JSON.stringify(key));
  }

  /** Notes a value that was read, which is older than one that was noted when it was written. */
  noteRead(key: StoreKey, split: SplitValue): void {
    if (!this.#has(key)) this.note(key, split);
  }

  /** The writes that remove the parts of the current value. */
  removal(key: StoreKey): KvWrite[] {
    const split = this.#find(key);
    return split === undefined ? [] : removalOf(split);
  }

  /** Reads which values have parts, and removes parts without a value. */
  async load(database: KvDatabase, journal: DenoKvJournal): Promise<void> {
    const noted: { readonly key: StoreKey; readonly split: SplitValue }[] = [];
    for await (const { key: noteKey, value } of listAll(database, partsKey())) {
      // encodeSet() wrote it.
      const { key, parts } = decodeValue(value as Uint8Array) as { key: StoreKey; parts: number };
      noted.push({ key, split: { id: noteKey[2] as string, parts } }); // as partsKey() makes it
    }
    // Parts without their value stay so, as names are used once. Only another process may be about
    // to write the value: then the check fails, and the parts stay.
    const records = await readMany(database, noted.map(({ key }) => valueKey(key)));
    const orphans: SplitValue[] = [];
    const checks: Deno.AtomicCheck[] = [];
    for (const [index, { key, split }] of noted.entries()) {
      const { value, versionstamp = null } = records[index] ?? {};
      if (isOf(split, value)) this.note(key, split);
      else {
        orphans.push(split);
        checks.push({ key: valueKey(key), versionstamp });
      }
    }
    if (orphans.length > 0) await journal.commit(orphans.flatMap(removalOf), checks);
  }

  /** In most databases no value has parts; then the key need not be encoded, a tenth of a commit. */
  #find(key: StoreKey): SplitValue | undefined {
    return this.#splits.size === 0 ? undefined : this.#splits.get(JSON.stringify(key));
  }
}

function isOf({ id }: SplitValue, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  const record = readRecord(value);
  return "split" in record && record.split.id === id;
}

function removalOf({ id, parts }: SplitValue): KvWrite[] {
  const keys = [partsKey(id), ...Array.from({ length: parts }, (_, index) => partKey(id, index))];
  return keys.map((key) => ({ key, record: undefined }));
}
