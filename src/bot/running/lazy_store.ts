/**
 * A store that is opened when it is used first.
 *
 * @module
 */

import type { KvCheck, KvEntry, KvKey, KvListOptions, KvLock, KvMutation, KvStore } from "../../../mod.ts";
import { StoreError } from "../../../mod.ts";

/** A store that is opened when it is used first, and closed with the bot. */
export class LazyStore implements KvStore {
  readonly #open: () => Promise<KvStore>;
  #opened: Promise<KvStore> | undefined;

  /** @param open Opens it. */
  constructor(open: () => Promise<KvStore>) {
    this.#open = open;
  }

  async getMany(keys: readonly KvKey[]): Promise<(KvEntry | undefined)[]> {
    return await (await this.#store).getMany(keys);
  }

  async *list(prefix: KvKey, options?: KvListOptions): AsyncIterable<KvEntry> {
    yield* (await this.#store).list(prefix, options);
  }

  async commit(mutations: readonly KvMutation[], checks?: readonly KvCheck[]): Promise<boolean> {
    return await (await this.#store).commit(mutations, checks);
  }

  async lock(key: KvKey): Promise<KvLock | undefined> {
    const store = await this.#store;
    if (store.lock === undefined) throw new StoreError("Cannot lock the store: it has no locks");
    return await store.lock(key);
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close();
  }

  get #store(): Promise<KvStore> {
    return this.#opened ??= this.#open();
  }
}
