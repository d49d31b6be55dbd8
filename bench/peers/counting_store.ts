/**
 * A store that counts what is written to it.
 *
 * @module
 */

import {
  encodeValue,
  type KvKey,
  type KvListOptions,
  type KvMutation,
  type KvStore,
} from "../../src/store/base/kv_store.ts";

/** What was written. */
export interface Written {
  readonly commits: number;
  /** Records that were set or deleted. */
  readonly changes: number;
  /** Of their keys and values. */
  readonly bytes: number;
}

/** Passes everything on, and counts. */
export class CountingStore implements KvStore {
  readonly #inner: KvStore;
  #written: Written = { commits: 0, changes: 0, bytes: 0 };

  /** @param inner The store. */
  constructor(inner: KvStore) {
    this.#inner = inner;
  }

  getMany(keys: readonly KvKey[]): ReturnType<KvStore["getMany"]> {
    return this.#inner.getMany(keys);
  }

  list(prefix: KvKey, options?: KvListOptions): ReturnType<KvStore["list"]> {
    return this.#inner.list(prefix, options);
  }

  commit(...args: Parameters<KvStore["commit"]>): Promise<boolean> {
    const { commits, changes, bytes } = this.#written;
    const [mutations] = args;
    this.#written = {
      commits: commits + 1,
      changes: changes + mutations.length,
      bytes: bytes + mutations.reduce((sum, mutation) => sum + bytesOf(mutation), 0),
    };
    return this.#inner.commit(...args);
  }

  close(): ReturnType<KvStore["close"]> {
    return this.#inner.close();
  }

  /** What was written since this was asked for last. */
  take(): Written {
    const written = this.#written;
    this.#written = { commits: 0, changes: 0, bytes: 0 };
    return written;
  }
}

function bytesOf(mutation: KvMutation): number {
  const key = mutation.key.reduce((sum, part) => sum + part.length, 0);
  return key + (mutation.type === "set" ? encodeValue(mutation.value).length : 0);
}
