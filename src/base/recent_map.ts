/**
 * Maps and sets that are bounded: the entries that were used last stay.
 *
 * @module
 */

interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  /** How much of the capacity it takes. */
  weight: number;
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
  /** What the entries weigh together. */
  #total = 0;

  /**
   * @param capacity How much the entries may weigh together, and how many there may be if each
   *   weighs 1: the oldest make room for one more. The newest one stays even if it is heavier.
   *   Default: any number.
   */
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
  set(key: Key, value: Value, weight = 1): void {
    const known = this.#entries.get(key);
    this.#total += weight - (known?.weight ?? 0);
    if (known === undefined) {
      const entry = { key, value, weight, older: undefined, newer: undefined };
      this.#entries.set(key, entry);
      this.#append(entry);
    } else {
      known.value = value;
      known.weight = weight;
      this.#renew(known);
    }
    while (this.#total > this.#capacity && this.#oldest !== this.#newest) this.removeOldest();
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
    this.#total -= entry.weight;
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
    this.#total = 0;
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
