/**
 * One step of the engine: what it reads, what it is going to write, and what happens when that is durable.
 *
 * @module
 */

import type { KvMutation } from "../../store/kv_store.ts";
import type { RecordCache } from "./record_cache.ts";
import { type RecordKey, recordKey } from "./record_key.ts";
import type { Vault } from "./vault.ts";

/** How a step ends. */
export interface CommitOptions {
  /** Whether its changes may wait for the next commit. Default: false. */
  readonly deferred?: boolean;
}

/**
 * Collects the changes of a step. Nothing that the step makes may leave the engine before it is durable.
 *
 * A record that was read must not be changed: write a new one.
 */
export class Transaction {
  readonly #vault: Vault;
  readonly #cache: RecordCache;
  readonly #writes = new Map<string, KvMutation>();
  /** Of what is written, what need not be remembered. */
  readonly #held = new Set<string>();
  readonly #onCommit: (() => void)[] = [];
  readonly #onAbort: (() => void)[] = [];

  /**
   * @param vault Where the records are.
   * @param cache What was read and written before.
   */
  constructor(vault: Vault, cache: RecordCache) {
    this.#vault = vault;
    this.#cache = cache;
  }

  /** Reads a record, as this step has written it if it has. */
  async get<Value>(key: RecordKey<Value>): Promise<Value | undefined> {
    const known = this.#known(key);
    if (known !== undefined) return known.value as Value | undefined;
    const [value] = await this.#vault.getMany([key.path]);
    this.#cache.set(key.id, value);
    return value as Value | undefined;
  }

  /** Reads several records at once; `undefined` where there is none. */
  async getMany<Value>(keys: readonly RecordKey<Value>[]): Promise<(Value | undefined)[]> {
    const unknown = keys.filter((key) => this.#known(key) === undefined);
    const fetched = new Map<string, unknown>();
    if (unknown.length > 0) {
      const values = await this.#vault.getMany(unknown.map(({ path }) => path));
      for (const [index, { id }] of unknown.entries()) {
        fetched.set(id, values[index]);
        this.#cache.set(id, values[index]);
      }
    }
    return keys.map((key) =>
      (fetched.has(key.id) ? fetched.get(key.id) : this.#known(key)?.value) as Value | undefined
    );
  }

  /**
   * Reads all records of a kind, or those of it that begin with some parts; what this step has written is not among them.
   *
   * @returns The last parts of the keys, without the given ones, and the records.
   */
  async list<Value>(kind: string, ...parts: readonly string[]): Promise<[key: string[], value: Value][]> {
    const prefix = recordKey(kind, ...parts).path;
    const entries = await this.#vault.list(prefix);
    return entries.map(({ key, value }) => [key.slice(prefix.length), value as Value]);
  }

  /** Reads the first records of a kind, in the order of their keys; the same goes for them as for {@link list}. */
  async first<Value>(
    limit: number,
    kind: string,
    ...parts: readonly string[]
  ): Promise<[key: string[], value: Value][]> {
    const prefix = recordKey(kind, ...parts).path;
    const entries = await this.#vault.list(prefix, limit);
    return entries.slice(0, limit).map(({ key, value }) => [key.slice(prefix.length), value as Value]);
  }

  /** Writes a record. */
  set<Value>(key: RecordKey<Value>, value: Value): void {
    this.#write(key, { type: "set", key: key.path, value });
  }

  /** Removes a record, if there is one. */
  delete<Value>(key: RecordKey<Value>): void {
    this.#write(key, { type: "delete", key: key.path });
  }

  /** Says that no record is kept under a key, whatever comes of this step, so that it need not be looked for. */
  absent(key: RecordKey<unknown>): void {
    if (this.#known(key) === undefined) this.#cache.set(key.id, undefined);
  }

  /** Has something done once the step counts, in the order in which it was asked for. */
  onCommit(action: () => void): void {
    this.#onCommit.push(action);
  }

  /** Has something done if the step comes to nothing, in reverse order: working copies go. */
  onAbort(action: () => void): void {
    this.#onAbort.push(action);
  }

  /** How many records the step has changed. */
  get changes(): number {
    return this.#writes.size;
  }

  /** How many records the step removes, by their kind; also those that there are not. */
  get removals(): Record<string, number> {
    const removals: Record<string, number> = {};
    for (const { type, key: [, kind = ""] } of this.#writes.values()) {
      if (type === "delete") removals[kind] = (removals[kind] ?? 0) + 1;
    }
    return removals;
  }

  /** Makes the step durable, in one commit, or leaves that to the next one; none if it has written nothing. */
  async commit({ deferred = false }: CommitOptions = {}): Promise<void> {
    if (this.#writes.size > 0) await this.#vault[deferred ? "defer" : "commit"]([...this.#writes.values()]);
    for (const [id, write] of this.#writes) {
      if (!this.#held.has(id)) this.#cache.set(id, write.type === "set" ? write.value : undefined);
    }
    for (const action of this.#onCommit) action();
  }

  /** Forgets the step. */
  abort(): void {
    for (const action of this.#onAbort.reverse()) action();
  }

  #write({ id, held }: RecordKey<unknown>, mutation: KvMutation): void {
    this.#writes.set(id, mutation);
    if (held === true) this.#held.add(id);
  }

  #known({ id }: RecordKey<unknown>): { readonly value: unknown } | undefined {
    const write = this.#writes.get(id);
    if (write !== undefined) return { value: write.type === "set" ? write.value : undefined };
    return this.#cache.get(id);
  }
}
