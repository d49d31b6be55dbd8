/**
 * Changes as Deno KV takes them, and how many of them at once.
 *
 * @module
 */

import { keyBytes, waitingKey } from "./deno_kv_key.ts";

/** One change of the database. */
export interface KvWrite {
  /** Where. */
  readonly key: Deno.KvKey;
  /** What to put there; `undefined` removes what is there. */
  readonly record: Uint8Array | undefined;
}

/** The most bytes of a record. */
export const MAX_RECORD_BYTES = 65_536;

/** The most checks of a commit, beside two that are the store's own. */
export const MAX_CHECKS = 98;

/** The most keys that are read at once. */
export const MAX_READS = 10;

/** Less than 1,000, 819,200 and 81,920, which Deno KV allows: the writes share a commit with some that are the store's own. */
const MAX_WRITES = 990;
const MAX_BYTES = 810_000;
const MAX_KEY_BYTES = 75_000;

/** Whether one commit can take it all. */
export function fitsOneCommit(writes: readonly KvWrite[], checks: readonly Deno.AtomicCheck[]): boolean {
  if (checks.length > MAX_CHECKS) return false;
  const reserved = checks.reduce((sum, { key }) => sum + keyBytes(key), 0);
  return packWrites(writes, reserved).length <= 1;
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

/**
 * Commits at once, if the checks hold.
 *
 * @returns The versionstamp of what was written; `undefined` if a check does not hold.
 */
export async function commitWrites(
  kv: Deno.Kv,
  checks: readonly Deno.AtomicCheck[],
  writes: readonly KvWrite[],
): Promise<string | undefined> {
  for (;;) {
    const operation = kv.atomic().check(...checks);
    for (const { key, record } of writes) {
      if (record === undefined) operation.delete(key);
      else operation.set(key, record);
    }
    try {
      const result = await operation.commit();
      return result.ok ? result.versionstamp : undefined;
    } catch (error) {
      if (!isLocked(error)) throw error;
      // Somebody else who has the file open writes. SQLite does not let one wait who has read already, as checks do, and
      // Deno KV gives up then; one who only writes waits, for five seconds.
      await kv.delete(waitingKey);
    }
  }
}

/** Whether nothing was written because somebody else was writing. Deno has no other mark for that. */
function isLocked(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("database is locked");
}

/** Cuts bytes into pieces that fit into a record each. */
export function cutBytes(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += MAX_RECORD_BYTES) {
    pieces.push(bytes.subarray(start, start + MAX_RECORD_BYTES));
  }
  return pieces;
}

/** Puts pieces together again. */
export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let end = 0;
  for (const piece of pieces) {
    bytes.set(piece, end);
    end += piece.length;
  }
  return bytes;
}
