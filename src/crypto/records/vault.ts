/**
 * Where the engine keeps its records: plain data under keys, committed atomically.
 *
 * @module
 */

import type { KvKey, KvListOptions, KvMutation } from "../../store/base/mod.ts";

/** A record that was found. */
export interface VaultEntry {
  /** Its key. */
  readonly key: KvKey;
  /** Plain data, which is never changed. */
  readonly value: unknown;
}

/** The engine's records. Only the engine writes them. */
export interface Vault {
  /** Reads several records at once; `undefined` where there is none. */
  getMany(keys: readonly KvKey[]): Promise<readonly unknown[]>;
  /**
   * Reads the records below a prefix, in the order of their keys.
   *
   * @param options Which of them. Default: all.
   */
  list(prefix: KvKey, options?: KvListOptions): Promise<readonly VaultEntry[]>;
  /** Applies all changes or none. When it resolves they are durable; a failure is fatal. */
  commit(mutations: readonly KvMutation[]): Promise<void>;
  /**
   * Applies changes with the next commit of any part: reads see them immediately, and a crash
   * before that loses them together with what led to them.
   */
  defer(mutations: readonly KvMutation[]): Promise<void>;
  /** Makes deferred changes durable. */
  flush(): Promise<void>;
}
