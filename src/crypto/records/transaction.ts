/**
 * Records and steps: a step of the engine reads and writes records by their keys, and commits all changes to
 * its vault at once. In memory it keeps objects of vodozemac, which are restored from records when they are
 * needed, and the last changes of some items.
 *
 * Over 300 lines because what a step undoes of objects in memory is part of the step.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import type { StoreKey, StoreListOptions, StoreMutation } from "../../store/base/mod.ts";

/** A record that was found. */
interface VaultEntry {
  readonly key: StoreKey;
  /** Plain data, which is never changed. */
  readonly value: unknown;
}

/** The engine's records. Only the engine writes them. */
export interface Vault {
  /** Reads several records at once; `undefined` where there is none. */
  getMany(keys: readonly StoreKey[]): Promise<readonly unknown[]>;
  /**
   * Reads the records below a prefix, in the order of their keys.
   *
   * @param options Which of them. Default: all.
   */
  list(prefix: StoreKey, options?: StoreListOptions): Promise<readonly VaultEntry[]>;
  /**
   * Applies all changes or none, together with others that wait: reads see them immediately. When it
   * resolves they are durable; a failure is fatal.
   */
  commit(mutations: readonly StoreMutation[]): Promise<void>;
  /**
   * Applies changes with the next commit of any part: reads see them immediately, and a crash
   * before that loses them together with what led to them.
   */
  defer(mutations: readonly StoreMutation[]): Promise<void>;
  /** Makes deferred changes durable. */
  flush(): Promise<void>;
}

/** The key of a record, with the record's type. */
export interface RecordKey<Value> {
  /** The parts of the key. */
  readonly path: StoreKey;
  /** The key as one string; different keys have different ones. */
  readonly id: string;
  /**
   * Whether its module keeps the record in memory and reads it only when it starts, so that no
   * cache needs it.
   */
  readonly held?: boolean;
  /**
   * Whether it is one of many that are used once, so that the cache does not keep it: they would
   * drive out what is in use.
   */
  readonly passing?: boolean;
  /** Never present: the type of the record. */
  readonly holds?: Value;
}

/**
 * Makes a key. All keys of the engine begin with `crypto`; the second part names the kind of
 * record.
 *
 * @param kind The kind of record: each belongs to one module.
 * @param parts The key of the record within its kind.
 */
export function recordKey<Value>(kind: string, ...parts: readonly string[]): RecordKey<Value> {
  const path = ["crypto", kind, ...parts];
  return { path, id: JSON.stringify(path) };
}

/** The cached state of a key: its record, or that there is none. */
interface KnownRecord {
  /** The record; undefined: there is none. */
  readonly value: unknown;
}

/** The records that were read or written last, by the IDs of their keys. */
export type RecordCache = RecentMap<string, KnownRecord>;

/** How a step ends. */
export interface CommitOptions {
  /** Whether its changes may wait for the next commit. Default: false. */
  readonly deferred?: boolean;
}

/**
 * Collects the changes of a step. Nothing may leave the engine before the step is durable.
 *
 * A record that was read must not be changed: write a new one.
 */
export class Transaction {
  /** Whether the step may lead to a request to the server: what wants one says so here. */
  leadsToRequest = false;
  readonly #vault: Vault;
  readonly #cache: RecordCache;
  readonly #writes = new Map<string, StoreMutation>();
  /** Written records that need no cache. */
  readonly #held = new Set<string>();
  /** Records that pass, as they were read; of those that were only written nothing is known. */
  readonly #passing = new Map<string, KnownRecord>();
  readonly #onCommit: (() => void)[] = [];
  readonly #onAbort: (() => void)[] = [];

  /**
   * @param vault Where the records are.
   * @param cache The records of earlier steps.
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
    this.#remember(key, value);
    return value as Value | undefined;
  }

  /** Reads several records at once; `undefined` where there is none. */
  async getMany<Value>(keys: readonly RecordKey<Value>[]): Promise<(Value | undefined)[]> {
    const known = keys.map((key) => this.#known(key));
    const unknown = keys.filter((_, index) => known[index] === undefined);
    const fetched = new Map<string, unknown>();
    if (unknown.length > 0) {
      const values = await this.#vault.getMany(unknown.map(({ path }) => path));
      for (const [index, key] of unknown.entries()) {
        fetched.set(key.id, values[index]);
        this.#remember(key, values[index]); // which may drive known ones out of the cache
      }
    }
    return keys.map(({ id }, index) =>
      (known[index] ?? { value: fetched.get(id) }).value as Value | undefined
    );
  }

  /**
   * Reads all records of a kind, or those whose key begins with some parts; changes of this step
   * are not included.
   *
   * @returns The last parts of the keys, without the given ones, and the records.
   */
  async list<Value>(kind: string, ...parts: readonly string[]): Promise<[key: string[], value: Value][]> {
    const prefix = recordKey(kind, ...parts).path;
    const entries = await this.#vault.list(prefix);
    return entries.map(({ key, value }) => [key.slice(prefix.length), value as Value]);
  }

  /**
   * Reads the next records of a kind in the order of their keys, as {@link list} does.
   *
   * @param options How many at most, and the key of the one after which to begin. Default: the
   * first.
   */
  async page<Value>(
    { limit, after }: { readonly limit: number; readonly after?: RecordKey<Value> },
    kind: string,
    ...parts: readonly string[]
  ): Promise<[key: string[], value: Value][]> {
    const prefix = recordKey(kind, ...parts).path;
    const entries = await this.#vault.list(prefix, { limit, after: after?.path });
    return entries.map(({ key, value }) => [key.slice(prefix.length), value as Value]);
  }

  /** Writes a record. */
  set<Value>(key: RecordKey<Value>, value: Value): void {
    this.#write(key, { type: "set", key: key.path, value });
  }

  /** Removes a record, if there is one. */
  delete<Value>(key: RecordKey<Value>): void {
    this.#write(key, { type: "delete", key: key.path });
  }

  /**
   * Says that no record exists under a key, even if the step is aborted, so that it is not read.
   */
  absent(key: RecordKey<unknown>): void {
    if (this.#known(key) === undefined) this.#cache.set(key.id, { value: undefined });
  }

  /** Runs an action when the step is committed, in the order of the calls. */
  onCommit(action: () => void): void {
    this.#onCommit.push(action);
  }

  /**
   * Runs an action if the step is aborted, in reverse order of the calls: it takes back changes in
   * memory.
   */
  onAbort(action: () => void): void {
    this.#onAbort.push(action);
  }

  /** How many records the step has changed. */
  get changes(): number {
    return this.#writes.size;
  }

  /** How many records the step removes, by their kind; includes those that do not exist. */
  get removals(): Record<string, number> {
    const removals: Record<string, number> = {};
    for (const { type, key: [, kind = ""] } of this.#writes.values()) {
      if (type === "delete") removals[kind] = (removals[kind] ?? 0) + 1;
    }
    return removals;
  }

  /**
   * Makes the step durable in one commit, or defers it to the next one. Does nothing without
   * changes.
   */
  async commit({ deferred = false }: CommitOptions = {}): Promise<void> {
    if (this.#writes.size > 0) await this.#vault[deferred ? "defer" : "commit"]([...this.#writes.values()]);
    this.#end();
  }

  /**
   * Ends the step before it is durable: steps that come until then share a commit.
   *
   * @returns Resolves when it is durable; undefined: it has changed nothing.
   */
  begin(): Promise<void> | undefined {
    const durable = this.#writes.size > 0 ? this.#vault.commit([...this.#writes.values()]) : undefined;
    this.#end();
    return durable;
  }

  /** Gives the step up. */
  abort(): void {
    for (const action of this.#onAbort.reverse()) action();
  }

  /** Lets the next steps see the changes. */
  #end(): void {
    for (const [id, write] of this.#writes) {
      if (this.#held.has(id) || (this.#passing.has(id) && this.#cache.get(id) === undefined)) continue;
      this.#cache.set(id, { value: write.type === "set" ? write.value : undefined });
    }
    for (const action of this.#onCommit) action();
  }

  #write({ id, held, passing }: RecordKey<unknown>, mutation: StoreMutation): void {
    this.#writes.set(id, mutation);
    if (held === true) this.#held.add(id);
    if (passing === true) this.#passing.getOrInsert(id, { value: undefined });
  }

  #known({ id }: RecordKey<unknown>): KnownRecord | undefined {
    const write = this.#writes.get(id);
    if (write !== undefined) return { value: write.type === "set" ? write.value : undefined };
    return this.#passing.get(id) ?? this.#cache.get(id);
  }

  #remember({ id, passing }: RecordKey<unknown>, value: unknown): void {
    if (passing === true) this.#passing.set(id, { value });
    else this.#cache.set(id, { value });
  }
}

/**
 * Keeps the objects that were used last, so that they need not be restored for each message.
 *
 * A step that changes an object in place calls {@link LiveObjects.changing}: if the step is
 * aborted, the object is evicted, and the next use restores it from the unchanged record. A step
 * may use more objects than the limit: none is evicted before it has ended.
 */
export class LiveObjects<Live extends Disposable> {
  readonly #limit: number;
  readonly #objects = new RecentMap<string, Live>();

  /** @param limit How many objects it keeps between steps. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of objects. */
  get size(): number {
    return this.#objects.size;
  }

  /**
   * The object with an ID.
   *
   * @param make Restores it from its record; undefined if that can't be read.
   */
  get<Made extends Live | undefined>(tx: Transaction, id: string, make: () => Made): Live | Made {
    const known = this.#objects.get(id);
    if (known !== undefined) return known;
    const object = make();
    if (object === undefined) return object;
    this.#objects.set(id, object);
    const trim = () => this.#trim(this.#limit);
    tx.onCommit(trim);
    tx.onAbort(trim);
    return object;
  }

  /** Announces that a step changes an object. */
  changing(tx: Transaction, id: string): void {
    tx.onAbort(() => this.evict(id));
  }

  /** Adds a new object, which has no record yet. */
  add(tx: Transaction, id: string, object: Live): void {
    this.evict(id);
    this.#objects.set(id, object);
    tx.onCommit(() => this.#trim(this.#limit));
    tx.onAbort(() => this.evict(id));
  }

  /** Frees an object, even if the step is aborted. */
  evict(id: string): void {
    this.#objects.remove(id)?.[Symbol.dispose]();
  }

  /** Frees all objects. */
  clear(): void {
    this.#trim(0);
  }

  #trim(count: number): void {
    while (this.#objects.size > count) this.#objects.removeOldest()?.[Symbol.dispose]();
  }
}

/** Remembers the last changes, so that a reader that comes back need not check all items. */
export class ChangeLog<Item> {
  readonly #limit: number;
  readonly #items: Item[] = [];
  #version = 0;

  /** The last answer: many readers ask for the same after one change. */
  #answer: { readonly from: number; readonly to: number; readonly items: ReadonlySet<Item> } | undefined;

  /** @param limit How many changes are remembered at least. Default: 10,000. */
  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** Grows with each change. */
  get version(): number {
    return this.#version;
  }

  /** Notes that something has changed. */
  note(item: Item): void {
    this.#items.push(item);
    this.#version++;
    if (this.#items.length > 2 * this.#limit) this.#items.splice(0, this.#limit);
  }

  /** Notes that anything may have changed. */
  noteAll(): void {
    this.#items.length = 0;
    this.#version++;
  }

  /** The items that have changed since a version; undefined: it is too long ago. */
  since(version: number): ReadonlySet<Item> | undefined {
    const to = this.#version;
    const changes = to - version;
    if (changes > this.#items.length) return undefined;
    if (this.#answer?.from !== version || this.#answer.to !== to) {
      const items = new Set(this.#items.slice(this.#items.length - changes));
      this.#answer = { from: version, to, items };
    }
    return this.#answer.items;
  }
}
