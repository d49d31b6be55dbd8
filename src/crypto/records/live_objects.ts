/**
 * What steps keep in memory: objects of vodozemac, which are restored from records when they are needed, and the last
 * changes of some items.
 *
 * @module
 */

import { RecentMap } from "../../base/recent_map.ts";
import type { Transaction } from "./transaction.ts";

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
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.#trim());
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
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.evict(id));
  }

  /** Frees an object, even if the step is aborted. */
  evict(id: string): void {
    this.#objects.remove(id)?.[Symbol.dispose]();
  }

  /** Frees all objects. */
  clear(): void {
    this.#freeDownTo(0);
  }

  #trim(): void {
    this.#freeDownTo(this.#limit);
  }

  #freeDownTo(count: number): void {
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
