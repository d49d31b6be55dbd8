/**
 * The last changes of some items.
 *
 * @module
 */

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
