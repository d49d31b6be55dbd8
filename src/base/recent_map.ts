/**
 * Maps and sets that are bounded: the entries that were used last stay.
 *
 * @module
 */

interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  /** The entry that was used before this one. */
  older: Entry<Key, Value> | undefined;
  /** The entry that was used after this one. */
  newer: Entry<Key, Value> | undefined;
}

/**
 * A map of which the entry that was not used for longest can be removed: what caches are made of.
 *
 * The entries are a list in the order of their use. The order of a `Map` would do, but V8 slows
 * down when entries of a map are removed and added again: a new entry took 50 us in place of 2 in a
 * full cache of 50,000.
 */
export class RecentMap<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #oldest: Entry<Key, Value> | undefined;
  #newest: Entry<Key, Value> | undefined;
  readonly #capacity: number;

  /** @param capacity How many entries it has at most: one more takes the place of the oldest. Default: any number. */
  constructor(capacity = Infinity) {
    this.#capacity = capacity;
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key, which becomes the newest entry. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#renew(entry);
    return entry?.value;
  }

  /** Sets a value, which becomes the newest entry. */
  set(key: Key, value: Value): void {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.value = value;
      this.#renew(known);
      return;
    }
    const entry = { key, value, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    if (this.size > this.#capacity) this.removeOldest();
  }

  /**
   * Removes an entry.
   *
   * @returns Its value, if there was one.
   */
  remove(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#unlink(entry);
    return entry.value;
  }

  /**
   * Removes the entry that was not used for longest.
   *
   * @returns Its value, if there was one.
   */
  removeOldest(): Value | undefined {
    return this.#oldest === undefined ? undefined : this.remove(this.#oldest.key);
  }

  /** Removes all entries. */
  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#newest = undefined;
  }

  #renew(entry: Entry<Key, Value>): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  #append(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry<Key, Value>): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    entry.older = entry.newer = undefined;
  }
}

/** A set that is bounded: the values that were added or looked for last stay. */
export class RecentSet<Value extends string> {
  readonly #values: RecentMap<Value, Value>;

  /** @param capacity How many values it has at most: one more takes the place of the oldest. */
  constructor(capacity: number) {
    this.#values = new RecentMap(capacity);
  }

  /** Returns whether it has a value, which becomes the newest. */
  has(value: Value): boolean {
    return this.#values.get(value) !== undefined;
  }

  /** Adds a value, which becomes the newest. */
  add(value: Value): void {
    this.#values.set(value, value);
  }
}

interface Weighed<Value> {
  readonly value: Value;
  readonly weight: number;
}

/** Keeps the entries that were used last, up to a total weight. */
export class WeighedCache<Key, Value> {
  readonly #limit: number;
  readonly #entries = new RecentMap<Key, Weighed<Value>>();
  #total = 0;

  /**
   * @param limit How much the entries may weigh together. The newest one stays even if it is
   *   heavier.
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Sets a value, and evicts the entries that were not used for longest while all weigh too much. */
  set(key: Key, value: Value, weight: number): void {
    this.#total += weight - (this.#entries.get(key)?.weight ?? 0);
    this.#entries.set(key, { value, weight });
    while (this.#total > this.#limit && this.#entries.size > 1) {
      this.#total -= this.#entries.removeOldest()?.weight ?? 0;
    }
  }

  /** Removes a value. */
  delete(key: Key): void {
    this.#total -= this.#entries.remove(key)?.weight ?? 0;
  }

  /** Removes all values. */
  clear(): void {
    this.#entries.clear();
    this.#total = 0;
  }
}
