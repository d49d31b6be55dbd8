/**
 * A store of which a commit fails when a test says so.
 *
 * @module
 */

import { MemoryStore, type Store } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";

/** A store, and what makes it fail. */
export interface FailingStore {
  readonly store: Store;
  /** Has the next commit fail. */
  fail(): void;
  /** Whether no commit is to fail: none was told to, or it has. */
  hasFailed(): boolean;
}

/**
 * Makes one.
 *
 * @param concerns Which commits may fail. Default: all.
 */
export function failingStore(
  concerns: (mutations: Parameters<Store["commit"]>[0]) => boolean = () => true,
): FailingStore {
  const inner = new MemoryStore();
  let isFailing = false;
  return {
    store: {
      getMany: (keys) => inner.getMany(keys),
      list: (prefix, options) => inner.list(prefix, options),
      close: () => inner.close(),
      async commit(mutations, checks) {
        if (isFailing && concerns(mutations)) {
          isFailing = false;
          throw new StoreError("the disk is gone");
        }
        return await inner.commit(mutations, checks);
      },
    },
    fail: () => {
      isFailing = true;
    },
    hasFailed: () => !isFailing,
  };
}
