/**
 * A cache whose entries may be of different size.
 *
 * @module
 */

import { RecentMap } from "./recent_map.ts";

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
