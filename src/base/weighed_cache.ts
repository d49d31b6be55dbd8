/**
 * A cache whose entries may be of different size.
 *
 * @module
 */

interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  weight: number;
  /** The entry that was used before this one. */
  older: Entry<Key, Value> | undefined;
  /** The entry that was used after this one. */
  newer: Entry<Key, Value> | undefined;
}

/**
 * Keeps what was used last, up to a total weight.
 *
 * The entries are a list in the order of their use. The order of the map would do, but V8 slows
 * down when entries of a map are removed and added again: a new entry took 50 us in place of 2 in a
 * full cache of 50,000.
 */
export class WeighedCache<Key, Value> {
  readonly #limit: number;
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #oldest: Entry<Key, Value> | undefined;
  #newest: Entry<Key, Value> | undefined;
  #total = 0;

  /**
   * @param limit What the entries may weigh together. The newest one stays even if it is heavier.
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The value of a key. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#unlink(entry);
    this.#append(entry);
    return entry.value;
  }

  /** Sets a value, and removes what was not used for longest while all together weigh too much. */
  set(key: Key, value: Value, weight: number): void {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = { key, value, weight, older: undefined, newer: undefined };
      this.#entries.set(key, entry);
    } else {
      this.#unlink(entry);
      this.#total -= entry.weight;
      entry.value = value;
      entry.weight = weight;
    }
    this.#append(entry);
    this.#total += weight;
    while (this.#total > this.#limit && this.#oldest !== undefined && this.#oldest !== entry) {
      this.delete(this.#oldest.key);
    }
  }

  /** Removes a value. */
  delete(key: Key): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#unlink(entry);
    this.#total -= entry.weight;
  }

  /** Removes all values. */
  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#newest = undefined;
    this.#total = 0;
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
