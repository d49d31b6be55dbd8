/**
 * A database of Deno KV, as the store uses it.
 *
 * @module
 */

import { type KvWrite, MAX_READS } from "./writes.ts";

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
