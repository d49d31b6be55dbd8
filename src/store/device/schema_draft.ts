/**
 * The records of a device as an upgrade would leave them: nothing is written before all of it is.
 *
 * @module
 */

import type { KvKey, KvMutation, KvStore } from "../kv_store.ts";

/** A record as a step of an upgrade sees it. */
export interface DraftRecord {
  /** The key, relative to the device's prefix. */
  readonly key: KvKey;
  /** Plain data, not to be changed: set another in its place. */
  readonly value: unknown;
}

/** What the steps of an upgrade read and change. Keys are relative to the device's prefix. */
export class SchemaDraft {
  readonly #kv: KvStore;
  readonly #prefix: KvKey;
  /** By key, what was changed; a record without a value is gone. */
  readonly #changes = new Map<string, { readonly key: KvKey; readonly value?: unknown }>();

  /**
   * @param kv Where the device is kept.
   * @param prefix What the keys of the device begin with.
   */
  constructor(kv: KvStore, prefix: KvKey) {
    this.#kv = kv;
    this.#prefix = prefix;
  }

  /** What was changed, to be committed at once. */
  get mutations(): KvMutation[] {
    return [...this.#changes.values()].map((change): KvMutation => {
      const key = [...this.#prefix, ...change.key];
      return "value" in change ? { type: "set", key, value: change.value } : { type: "delete", key };
    });
  }

  /** The records below a key, not at it, as they were when the reading began; in no particular order. */
  async *list(below: KvKey): AsyncGenerator<DraftRecord> {
    const changes = new Map(this.#changes); // what the reader does to a record must not bring it again
    for await (const entry of this.#kv.list([...this.#prefix, ...below])) {
      const key = entry.key.slice(this.#prefix.length);
      if (!changes.has(JSON.stringify(key))) yield { key, value: entry.value };
    }
    for (const change of changes.values()) {
      if ("value" in change && isBelow(change.key, below)) yield { key: change.key, value: change.value };
    }
  }

  /** Puts a value in the place of whatever is there. */
  set(key: KvKey, value: unknown): void {
    this.#changes.set(JSON.stringify(key), { key, value });
  }

  /** Removes a record. */
  delete(key: KvKey): void {
    this.#changes.set(JSON.stringify(key), { key });
  }
}

function isBelow(key: KvKey, prefix: KvKey): boolean {
  return key.length > prefix.length && prefix.every((part, index) => part === key[index]);
}
