/**
 * A bounded index of what others make us remember, in which nobody can crowd out everybody else.
 *
 * @module
 */

import type { Transaction } from "./transaction.ts";

/** An entry: its group, its name in the group, and what it holds. */
export type FairEntry<Value> = readonly [group: string, id: string, value: Value];

/**
 * Remembers things by group and name. When there are too many, the oldest of the largest group goes.
 *
 * A step changes it at once, so that it sees its own changes; if the step comes to nothing, they are taken back.
 */
export class FairIndex<Value> {
  readonly #limit: number;
  readonly #groups = new Map<string, Map<string, Value>>();
  #size = 0;

  /** @param limit How many things it remembers. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many things it remembers. */
  get size(): number {
    return this.#size;
  }

  /** What it remembers under a name. */
  get(group: string, id: string): Value | undefined {
    return this.#groups.get(group)?.get(id);
  }

  /** Everything. */
  *values(): Generator<Value> {
    for (const group of this.#groups.values()) yield* group.values();
  }

  /** Puts in what is durable already. */
  load(group: string, id: string, value: Value): void {
    const known = this.#groups.getOrInsertComputed(group, () => new Map<string, Value>());
    if (!known.has(id)) this.#size++;
    known.set(id, value);
  }

  /**
   * Remembers something.
   *
   * @returns What had to go for it.
   */
  set(tx: Transaction, [group, id, value]: FairEntry<Value>): FairEntry<Value>[] {
    const before = this.get(group, id);
    this.load(group, id, value);
    tx.onAbort(() => before === undefined ? this.#remove(group, id) : this.load(group, id, before));
    const gone: FairEntry<Value>[] = [];
    while (this.#size > this.#limit) {
      const oldest = this.#oldestOfLargest();
      if (oldest === undefined) break;
      this.delete(tx, oldest[0], oldest[1]);
      gone.push(oldest);
    }
    return gone;
  }

  /** Forgets something. */
  delete(tx: Transaction, group: string, id: string): void {
    const value = this.get(group, id);
    if (value === undefined) return;
    this.#remove(group, id);
    tx.onAbort(() => this.load(group, id, value));
  }

  /** Forgets everything. */
  clear(): void {
    this.#groups.clear();
    this.#size = 0;
  }

  #remove(group: string, id: string): void {
    const known = this.#groups.get(group);
    if (known?.delete(id)) this.#size--;
    if (known?.size === 0) this.#groups.delete(group);
  }

  #oldestOfLargest(): FairEntry<Value> | undefined {
    let largest: [string, Map<string, Value>] | undefined;
    for (const entry of this.#groups) {
      if (largest === undefined || entry[1].size > largest[1].size) largest = entry;
    }
    if (largest === undefined) return undefined;
    for (const [id, value] of largest[1]) return [largest[0], id, value];
    return undefined;
  }
}
