/**
 * Changes as Deno KV takes them: how many at once, and as bytes in a journal.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { keyBytes, keyBytesAtMost } from "./keys.ts";
import { decodeValue, encodeValue } from "../value_codec.ts";

/** One change of the database. */
export interface KvWrite {
  /** Where. */
  readonly key: Deno.KvKey;
  /** What to put there; `undefined` removes what is there. */
  readonly record: Uint8Array | undefined;
}

/** The most bytes of a record. */
export const MAX_RECORD_BYTES = 65_536;

/** The most keys that are read at once. */
export const MAX_READS = 10;

/** Less than 1,000, 819,200 and 81,920, which Deno KV allows: the writes share a commit with some that are the store's own. */
const MAX_WRITES = 990;
const MAX_BYTES = 810_000;
const MAX_KEY_BYTES = 75_000;

/**
 * Whether one commit can take it all.
 *
 * @param maxChecks How many checks it can take.
 */
export function fitsOneCommit(
  writes: readonly KvWrite[],
  checks: readonly Deno.AtomicCheck[],
  maxChecks: number,
): boolean {
  if (checks.length > maxChecks || writes.length > MAX_WRITES) return false;
  if (surelyFits(writes, checks)) return true;
  const reserved = checks.reduce((sum, { key }) => sum + keyBytes(key), 0);
  return packWrites(writes, reserved).length <= 1;
}

/** Whether nothing has to be measured to know that writes and checks are not too long: so it is with nearly all. */
function surelyFits(writes: readonly KvWrite[], checks: readonly Deno.AtomicCheck[]): boolean {
  let [bytes, keys] = [0, 0];
  for (const { key } of checks) bytes += keyBytesAtMost(key);
  for (const { key, record } of writes) {
    keys += keyBytesAtMost(key);
    bytes += record?.length ?? 0;
  }
  return keys <= MAX_KEY_BYTES && bytes + 2 * keys <= MAX_BYTES;
}

/**
 * Splits writes, in their order, so that each part fits into one commit.
 *
 * @param writes The writes.
 * @param reserved How many bytes each commit is to leave for other things.
 */
export function packWrites(writes: readonly KvWrite[], reserved = 0): KvWrite[][] {
  const packs: KvWrite[][] = [];
  let pack: KvWrite[] = [];
  let [bytes, keys] = [0, 0];
  for (const write of writes) {
    const length = keyBytes(write.key);
    // As measured: what is put counts its key twice, and its key for the limit of keys too; what is removed does neither.
    const [key, size] = write.record === undefined ? [0, length] : [length, 2 * length + write.record.length];
    const full = pack.length === MAX_WRITES || bytes + size > MAX_BYTES - reserved ||
      keys + key > MAX_KEY_BYTES;
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

/** What stands in front of the records of some writes. */
interface FrameHead {
  /** Where they go. */
  readonly keys: readonly Deno.KvKey[];
  /** How long each is; {@link REMOVAL} if there is none. */
  readonly lengths: readonly number[];
}

const REMOVAL = -1;

/** The bytes that say how long the head is. */
const LENGTH_BYTES = 4;

/** Makes bytes of writes: the keys first, then the records as they are, which need not be encoded again. */
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

/** Makes writes of bytes again: of all that were put one behind the other. */
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
