/**
 * A database of Deno KV, as the store uses it: keys as it takes them, and changes, how many at once, and as
 * bytes in a journal.
 *
 * Over 300 lines because keys and writes have the limits of one database.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { ValueError } from "../../errors/matrix_error.ts";
import { decodeValue, encodeValue, type StoreKey } from "../base/mod.ts";

/** One change of the database. */
export interface KvWrite {
  readonly key: Deno.KvKey;
  /** The new record; `undefined` removes the entry. */
  readonly record: Uint8Array | undefined;
}

/** The most bytes of a record. */
export const MAX_RECORD_BYTES = 65_536;

/** The most keys of a read. */
export const MAX_READS = 10;

/**
 * Less than the 1,000, 819,200 and 81,920 that Deno KV allows: a commit contains some writes of the
 * store's own.
 */
const MAX_WRITES = 990;
const MAX_BYTES = 810_000;
const MAX_BYTES_OF_KEYS = 75_000;

/**
 * Returns whether all fits into one commit.
 *
 * @param maxChecks The most checks of a commit.
 */
export function fitsOneCommit(
  writes: readonly KvWrite[],
  checks: readonly Deno.AtomicCheck[],
  maxChecks: number,
): boolean {
  if (checks.length > maxChecks || writes.length > MAX_WRITES) return false;
  const reserved = checks.reduce((sum, { key }) => sum + keyBytes(key), 0);
  return packWrites(writes, reserved).length <= 1;
}

/**
 * Splits writes, in order, so that each part fits into one commit.
 *
 * @param writes The writes.
 * @param reserved The bytes that each commit leaves free.
 */
export function packWrites(writes: readonly KvWrite[], reserved = 0): KvWrite[][] {
  const packs: KvWrite[][] = [];
  let pack: KvWrite[] = [];
  let [bytes, keys] = [0, 0];
  for (const write of writes) {
    const length = keyBytes(write.key);
    // As measured: a set counts its key twice, and toward the limit of keys; a removal does
    // neither.
    const [key, size] = write.record === undefined ? [0, length] : [length, 2 * length + write.record.length];
    const full = pack.length === MAX_WRITES || bytes + size > MAX_BYTES - reserved ||
      keys + key > MAX_BYTES_OF_KEYS;
    if (full && pack.length > 0) {
      packs.push(pack);
      pack = [];
      [bytes, keys] = [0, 0];
    }
    pack.push(write);
    bytes += size;
    keys += key;
  }
  return pack.length === 0 ? packs : [...packs, pack];
}

/** Cuts bytes into pieces that fit into a record each. */
export function cutBytes(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += MAX_RECORD_BYTES) {
    pieces.push(bytes.subarray(start, start + MAX_RECORD_BYTES));
  }
  return pieces;
}

/** The head in front of the records of some writes. */
interface FrameHead {
  readonly keys: readonly Deno.KvKey[];
  /** The length of each record; {@link REMOVAL} if there is none. */
  readonly lengths: readonly number[];
}

const REMOVAL = -1;

/** The bytes of the head's length. */
const LENGTH_BYTES = 4;

/** Encodes writes: the keys, then the records as they are. */
export function encodeWrites(writes: readonly KvWrite[]): Uint8Array {
  const head = encodeValue(
    {
      keys: writes.map(({ key }) => key),
      lengths: writes.map(({ record }) => record?.length ?? REMOVAL),
    } satisfies FrameHead,
  );
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, head.length);
  return concat([length, head, ...writes.flatMap(({ record }) => record ?? [])]);
}

/** Decodes writes: all that were encoded one behind the other. */
export function decodeWrites(bytes: Uint8Array): KvWrite[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const writes: KvWrite[] = [];
  let at = 0;
  const take = (length: number) => bytes.subarray(at, at += length);
  while (at < bytes.length) {
    const length = view.getUint32(at);
    at += LENGTH_BYTES;
    const { keys, lengths } = decodeValue(take(length)) as FrameHead; // encodeWrites() made it
    for (const [index, key] of keys.entries()) {
      const length = lengths[index] ?? REMOVAL;
      writes.push({ key, record: length === REMOVAL ? undefined : take(length) });
    }
  }
  return writes;
}

/** The entry of a key, or that there is none. */
export type KvRecord = Deno.KvEntryMaybe<unknown>;

/** A page of the entries below a prefix. */
export interface KvPage {
  /** The entries, in the order of the keys. */
  readonly entries: Deno.KvEntry<unknown>[];
  /** The key after which the next page begins; `undefined` after the last. */
  readonly last: Deno.KvKey | undefined;
  /**
   * The entry of the key that was asked for, in the same snapshot; `undefined` if the database
   * can't do that at once.
   */
  readonly beside?: KvRecord;
}

/**
 * What the store requires of Deno KV, in a file or over the network. Operations reject with a
 * `StoreError` where the reason is known.
 */
export interface KvDatabase {
  /** The file, if there is one and its path is known. */
  readonly file?: string;
  /** The most checks of a commit, beside two of the store's own. */
  readonly maxChecks: number;
  /**
   * Reads values in one snapshot.
   *
   * @param keys At most ten.
   */
  getMany(keys: readonly Deno.KvKey[]): Promise<KvRecord[]>;
  /**
   * Reads a page of the entries below a prefix, in one snapshot.
   *
   * @param after The key after which the page begins; without it, at the first entry.
   * @param beside A key to read too, if the database can do that at once.
   */
  page(prefix: Deno.KvKey, after?: Deno.KvKey, beside?: Deno.KvKey): Promise<KvPage>;
  /**
   * Writes everything atomically if the checks hold, and once only.
   *
   * @returns The versionstamp of the commit; `undefined` if a check fails.
   */
  commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined>;
  /** Closes the database. */
  close(): void;
}

/** Reads all entries below a prefix. */
export async function* listAll(
  database: KvDatabase,
  prefix: Deno.KvKey,
): AsyncGenerator<Deno.KvEntry<unknown>> {
  let last: Deno.KvKey | undefined;
  do {
    const page = await database.page(prefix, last);
    yield* page.entries;
    last = page.last;
  } while (last !== undefined);
}

/** Reads any number of values, ten in a snapshot. */
export async function readMany(database: KvDatabase, keys: readonly Deno.KvKey[]): Promise<KvRecord[]> {
  const batches: Promise<KvRecord[]>[] = [];
  for (let start = 0; start < keys.length; start += MAX_READS) {
    batches.push(database.getMany(keys.slice(start, start + MAX_READS)));
  }
  return (await Promise.all(batches)).flat();
}

/** The first part of every key, so that a database can be shared with the application. */
const NAMESPACE = "greenroom";

/** The bytes that Deno KV allows; one more for reads. */
const MAX_KEY_BYTES = 2048;

/**
 * Begins the escape of a code unit that UTF-8 can't encode; with {@link ITSELF} behind it, stands
 * for itself.
 */
const ESCAPE = "\uE000";
const ITSELF = "\uFFFF";
const FIRST_SURROGATE = 0xd800;

export function valueKey(key: StoreKey): Deno.KvKey {
  const physical = [NAMESPACE, "value", ...key.map(toWellFormed)];
  const size = keyBytes(physical);
  if (size > MAX_KEY_BYTES) {
    throw new ValueError(
      `Cannot use a key of ${key.length} parts: it takes ${size} bytes, and Deno KV allows ${MAX_KEY_BYTES}; use a shorter one`,
    );
  }
  return physical;
}

/** The key whose value has this key in the database. */
export function logicalKey(physical: Deno.KvKey): StoreKey {
  // valueKey() makes nothing but strings.
  return physical.slice(2).map((part) => fromWellFormed(part as string));
}

/** The keys of the parts of a large value: 0, 1, … below its identifier. */
export function partKey(id: string, index: number): Deno.KvKey {
  return [NAMESPACE, "part", id, index];
}

/**
 * The key of the note of which value the parts belong to; without an identifier, the prefix of all
 * notes.
 */
export function partsKey(id?: string): Deno.KvKey {
  return id === undefined ? [NAMESPACE, "parts"] : [NAMESPACE, "parts", id];
}

/** The key of the journal's marker. */
export const journalKey: Deno.KvKey = [NAMESPACE, "journal"];

/** The key of the database's format. */
export const formatKey: Deno.KvKey = [NAMESPACE, "format"];

/** The prefix of everything. */
export const namespaceKey: Deno.KvKey = [NAMESPACE];

/** The key of a remote writer's turn. */
export function turnKey(id: string): Deno.KvKey {
  return [NAMESPACE, "turn", id];
}

/** A key that never has a value. */
export const waitingKey: Deno.KvKey = [NAMESPACE, "waiting"];

/**
 * The prefix of staged journals; with an identifier, one of them; with an index too, a piece of it.
 */
export function stagedKey(...idAndIndex: [] | [id: string] | [id: string, index: number]): Deno.KvKey {
  return [NAMESPACE, "staged", ...idAndIndex];
}

/**
 * The bytes that Deno KV makes of a key: of each part a type, its UTF-8 with zeros doubled, and an
 * end.
 */
export function keyBytes(key: Deno.KvKey): number {
  let size = 0;
  for (const part of key) size += typeof part === "string" ? 2 + utf8Bytes(part) : 9;
  return size;
}

function utf8Bytes(text: string): number {
  let size = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0) size += 2;
    else if (unit < 0x80) size += 1;
    else if (unit < 0x800 || (unit >= FIRST_SURROGATE && unit < 0xe000)) size += 2; // a pair makes four
    else size += 3;
  }
  return size;
}

/**
 * Replaces each unpaired surrogate, which Deno KV would turn into U+FFFD, so that different keys
 * would be equal. Well-formed text stays as it is, except for U+E000. The order of the code points
 * stays in any case.
 */
function toWellFormed(part: string): string {
  if (part.isWellFormed() && !part.includes(ESCAPE)) return part;
  return Array.from(part, (character) => {
    if (character === ESCAPE) return ESCAPE + ITSELF;
    if (character.isWellFormed()) return character;
    return ESCAPE + String.fromCharCode(character.charCodeAt(0) - FIRST_SURROGATE);
  }).join("");
}

function fromWellFormed(part: string): string {
  if (!part.includes(ESCAPE)) return part;
  return part.replaceAll(/\uE000([\s\S])/g, (_, behind: string) => {
    return behind === ITSELF ? ESCAPE : String.fromCharCode(behind.charCodeAt(0) + FIRST_SURROGATE);
  });
}
