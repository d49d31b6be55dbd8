/**
 * A store that counts what is written to it.
 *
 * @module
 */

import {
  encodeValue,
  type Store,
  type StoreKey,
  type StoreListOptions,
  type StoreMutation,
} from "../../src/store/base/mod.ts";

/** What was written. */
export interface Written {
  readonly commits: number;
  /** Records that were set or deleted. */
  readonly changes: number;
  /** Of their keys and values. */
  readonly bytes: number;
}

/** Passes everything on, and counts. */
export class CountingStore implements Store {
  readonly #inner: Store;
  #written: Written = { commits: 0, changes: 0, bytes: 0 };

  /** @param inner The store. */
  constructor(inner: Store) {
    this.#inner = inner;
  }

  getMany(keys: readonly StoreKey[]): ReturnType<Store["getMany"]> {
    return this.#inner.getMany(keys);
  }

  list(prefix: StoreKey, options?: StoreListOptions): ReturnType<Store["list"]> {
    return this.#inner.list(prefix, options);
  }

  commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
    const { commits, changes, bytes } = this.#written;
    const [mutations] = args;
    this.#written = {
      commits: commits + 1,
      changes: changes + mutations.length,
      bytes: bytes + mutations.reduce((sum, mutation) => sum + bytesOf(mutation), 0),
    };
    return this.#inner.commit(...args);
  }

  close(): ReturnType<Store["close"]> {
    return this.#inner.close();
  }

  /** What was written since this was asked for last. */
  take(): Written {
    const written = this.#written;
    this.#written = { commits: 0, changes: 0, bytes: 0 };
    return written;
  }
}

function bytesOf(mutation: StoreMutation): number {
  const key = mutation.key.reduce((sum, part) => sum + part.length, 0);
  return key + (mutation.type === "set" ? encodeValue(mutation.value).length : 0);
}
