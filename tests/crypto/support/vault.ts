/** A vault in memory, and steps on it. */

import { RecentMap } from "../../../src/base/recent_map.ts";
import { type RecordCache, Transaction, type Vault } from "../../../src/crypto/records/mod.ts";
import type { Store, StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";

/** A vault in a store; what is written is copied, as it is on its way to a disk. */
export function memoryVault(store: Store = new MemoryStore()): Vault {
  const commit = async (mutations: readonly StoreMutation[]): Promise<void> => {
    await store.commit(structuredClone(mutations));
  };
  return {
    getMany: async (keys) => (await store.getMany(keys)).map((entry) => entry?.value),
    list: (prefix, options) => Array.fromAsync(store.list(prefix, options)),
    commit,
    defer: commit,
    flush: () => Promise.resolve(),
  };
}

/** Has a store refuse keys that are longer than Deno KV takes. */
export function withShortKeys(store: Store): void {
  const getMany = store.getMany.bind(store);
  store.getMany = async (keys) => {
    if (keys.some((key) => key.join().length > 2_000)) throw new RangeError("A key is too long");
    return await getMany(keys);
  };
}

/** What happens in a step. */
export type Work<Result> = (tx: Transaction) => Promise<Result> | Result;

/**
 * Runs a step and commits it, or aborts it if it throws: `step(vault, work)`, or `step(vault, cache, work)`.
 */
export function step<Result>(vault: Vault, work: Work<Result>): Promise<Result>;
export function step<Result>(
  vault: Vault,
  cache: RecordCache | undefined,
  work: Work<Result>,
): Promise<Result>;
export async function step<Result>(
  vault: Vault,
  cacheOrWork: RecordCache | Work<Result> | undefined,
  maybeWork?: Work<Result>,
): Promise<Result> {
  const cache: RecordCache = cacheOrWork instanceof RecentMap ? cacheOrWork : new RecentMap(1_000);
  const work = typeof cacheOrWork === "function" ? cacheOrWork : maybeWork;
  const tx = new Transaction(vault, cache);
  try {
    if (work === undefined) throw new TypeError("A step needs work");
    const result = await work(tx);
    await tx.commit();
    return result;
  } catch (error) {
    tx.abort();
    throw error;
  }
}
