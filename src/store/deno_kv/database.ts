/**
 * A database of Deno KV, as the store uses it.
 *
 * @module
 */

import { type KvWrite, MAX_READS } from "./writes.ts";

/** What is under a key, or that there is nothing. */
export type KvRecord = Deno.KvEntryMaybe<unknown>;

/** Some of what lies below a prefix. */
export interface KvPage {
  /** The entries, in the order of the keys. */
  readonly entries: Deno.KvEntry<unknown>[];
  /** Where to go on; `undefined` if this was all. */
  readonly cursor: string | undefined;
  /** What was under the key to be looked at, at the same moment; `undefined` if the database can't do that at once. */
  readonly beside?: KvRecord;
}

/** What a store asks of Deno KV, in a file or over the network. What fails rejects with a `StoreError` where its reason is known. */
export interface KvDatabase {
  /** The file, if there is one and its path is known. */
  readonly file?: string;
  /** The most checks of a commit, beside two that are the store's own. */
  readonly maxChecks: number;
  /**
   * Reads values as they are at one moment.
   *
   * @param keys At most ten.
   */
  getMany(keys: readonly Deno.KvKey[]): Promise<KvRecord[]>;
  /**
   * Reads some of what lies below a prefix as it is at one moment.
   *
   * @param cursor Where to go on; from the first on without it.
   * @param beside A key to look at too, if that can be done at once.
   */
  page(prefix: Deno.KvKey, cursor?: string, beside?: Deno.KvKey): Promise<KvPage>;
  /**
   * Writes everything at once if the checks hold, and once only.
   *
   * @returns The versionstamp of what was written; `undefined` if a check does not hold.
   */
  commit(checks: readonly Deno.AtomicCheck[], writes: readonly KvWrite[]): Promise<string | undefined>;
  /** Closes the database. */
  close(): void;
}

/** Reads all that lies below a prefix. */
export async function* listAll(
  database: KvDatabase,
  prefix: Deno.KvKey,
): AsyncGenerator<Deno.KvEntry<unknown>> {
  let cursor: string | undefined;
  do {
    const page = await database.page(prefix, cursor);
    yield* page.entries;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** Reads any number of values, each ten of them as they are at one moment. */
export async function readMany(database: KvDatabase, keys: readonly Deno.KvKey[]): Promise<KvRecord[]> {
  const batches: Promise<KvRecord[]>[] = [];
  for (let start = 0; start < keys.length; start += MAX_READS) {
    batches.push(database.getMany(keys.slice(start, start + MAX_READS)));
  }
  return (await Promise.all(batches)).flat();
}
