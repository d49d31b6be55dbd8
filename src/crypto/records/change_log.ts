/**
 * Who has changed lately.
 *
 * @module
 */

/** Remembers the last changes, so that who looks again now and then need not look at everybody. */
export class ChangeLog<Item> {
  readonly #limit: number;
  readonly #items: Item[] = [];
  #version = 0;

  /** What was answered last: many ask the same after one change. */
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

  /** What has changed since a version; undefined: nobody knows any more. */
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
