/**
 * A case of the store conformance suite.
 *
 * @module
 */

import type { KvEntry, KvKey, KvMutation, KvStore } from "../store/kv_store.ts";

/** What a case asks of a store beside the interface. */
export type StoreTrait = "copies" | "durable" | "shared";

/** Something that every store does, and how to see it. */
export interface StoreCase {
  /** A sentence that the store's name begins. */
  readonly name: string;
  /** Only for stores with this trait. */
  readonly needs?: StoreTrait;
  /**
   * Fails if the store does something else.
   *
   * @param open Opens the case's own store, empty at first.
   */
  run(open: () => Promise<KvStore>): Promise<void>;
}

/** Makes a mutation that puts a value somewhere. */
export function set(key: KvKey, value: unknown): KvMutation {
  return { type: "set", key, value };
}

/** Makes a mutation that removes a value. */
export function remove(key: KvKey): KvMutation {
  return { type: "delete", key };
}

/** Reads one entry. */
export async function read(store: KvStore, key: KvKey): Promise<KvEntry | undefined> {
  return (await store.getMany([key]))[0];
}

/** Reads one value; `undefined` if there is none. */
export async function readValue(store: KvStore, key: KvKey): Promise<unknown> {
  return (await read(store, key))?.value;
}

/** Reads the versionstamp that a check of the key must name. */
export async function stampOf(store: KvStore, key: KvKey): Promise<string | null> {
  return (await read(store, key))?.versionstamp ?? null;
}

/** Reads all that lies below a prefix. */
export async function listed(store: KvStore, prefix: KvKey): Promise<KvEntry[]> {
  return await Array.fromAsync(store.list(prefix));
}

/** Bytes that are the same in every run, and no two pieces of which are. */
export function someBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}
