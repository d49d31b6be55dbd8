/**
 * Reads and writes for the Store actor: every commit goes through here.
 *
 * @module
 */

import { ValueError } from "../errors/value_error.ts";
import { StoreKeys } from "../store/keys.ts";
import type { KvKey, KvMutation, KvStore } from "../store/kv_store.ts";
import { fatal } from "./actor_error.ts";

/** Reads and writes what one device keeps. */
export class StoreWriter {
  readonly #kv: KvStore;
  #keys: StoreKeys | undefined;

  /** @param kv Where everything is kept. */
  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  /** Chooses where everything is kept. */
  open(prefix: KvKey): void {
    this.#keys = new StoreKeys(prefix);
  }

  /**
   * Where what is kept.
   *
   * @throws {ValueError} If the store has not been opened.
   */
  get keys(): StoreKeys {
    if (this.#keys !== undefined) return this.#keys;
    throw new ValueError("Cannot use the store: it has not been opened for an account yet");
  }

  /** Reads several values. They are ours, written through this class: what is read is what was written. */
  async getMany<T>(keys: readonly KvKey[]): Promise<(T | undefined)[]> {
    if (keys.length === 0) return [];
    const entries = await this.#kv.getMany(keys);
    return entries.map((entry) => entry?.value as T | undefined);
  }

  /** Reads a value. */
  async get<T>(key: KvKey): Promise<T | undefined> {
    const [value] = await this.getMany<T>([key]);
    return value;
  }

  /** Reads all values below a prefix. */
  async list<T>(prefix: KvKey): Promise<T[]> {
    const found: T[] = [];
    for await (const { value } of this.#kv.list(prefix)) found.push(value as T);
    return found;
  }

  /** Reads the records of another actor's below a prefix, with keys relative to the account's. */
  async listRecords(prefix: KvKey): Promise<{ key: KvKey; value: unknown }[]> {
    const found: { key: KvKey; value: unknown }[] = [];
    const from = this.keys.record([]).length;
    for await (const { key, value } of this.#kv.list(this.keys.record(prefix))) {
      found.push({ key: key.slice(from), value });
    }
    return found;
  }

  /**
   * Makes changes. Nothing is done if there are none.
   *
   * @throws What is fatal to the actor: whether a commit that fails took effect is not known, so nothing may go on from there.
   */
  async commit(mutations: readonly KvMutation[]): Promise<void> {
    try {
      if (mutations.length > 0) await this.#kv.commit(mutations);
    } catch (error) {
      throw fatal(error);
    }
  }
}

/** The change that puts a value in the place of whatever is there. */
export function set(key: KvKey, value: unknown): KvMutation {
  return { type: "set", key, value };
}
