/**
 * A store that counts what is written to it.
 *
 * @module
 */

import { MemoryStore, type Store, type StoreKey, type StoreListOptions } from "@greenroom/matrix";
import { recordKind } from "../../store/support/weights.ts";

/** Keeps everything in memory, and counts. */
export class CountingStore implements Store {
  readonly #inner = new MemoryStore();
  #commits: string[] = [];

  getMany(keys: readonly StoreKey[]) {
    return this.#inner.getMany(keys);
  }

  list(prefix: StoreKey, options?: StoreListOptions) {
    return this.#inner.list(prefix, options);
  }

  commit(...args: Parameters<Store["commit"]>): Promise<boolean> {
    const kinds = new Set(args[0].map(({ key }) => recordKind(key)));
    this.#commits.push([...kinds].sort().join(" "));
    return this.#inner.commit(...args);
  }

  close(): void {}

  /** The commits since this was asked for last: the kinds of records that each changed, in order. */
  take(): string[] {
    const commits = this.#commits;
    this.#commits = [];
    return commits;
  }
}
