/**
 * Keys that know what lies under them.
 *
 * @module
 */

import type { KvKey } from "../../store/kv_store.ts";

/** The key of a record, with the type of what it holds. */
export interface RecordKey<Value> {
  /** The parts of the key. */
  readonly path: KvKey;
  /** The key as one string; different keys have different ones. */
  readonly id: string;
  /** Whether its module has the record in memory itself, and reads it only when it starts: nobody else need remember it. */
  readonly held?: boolean;
  /** Never there: says what the record holds. */
  readonly holds?: Value;
}

/**
 * Makes a key. All keys of the engine begin with `crypto`; the second part names the kind of record.
 *
 * @param kind The kind of record: each belongs to one module.
 * @param parts What tells records of a kind apart.
 */
export function recordKey<Value>(kind: string, ...parts: readonly string[]): RecordKey<Value> {
  const path = ["crypto", kind, ...parts];
  return { path, id: JSON.stringify(path) };
}
