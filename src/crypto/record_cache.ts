/**
 * Records that have been read or written lately.
 *
 * @module
 */

/** Remembers the records that were used last, and that there is none under a key. */
export class RecordCache {
  readonly #limit: number;
  readonly #records = new Map<string, { readonly value: unknown }>();

  /** @param limit How many records it remembers. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is known of a key; undefined: nothing, not even whether there is a record. */
  get(id: string): { readonly value: unknown } | undefined {
    const found = this.#records.get(id);
    if (found === undefined) return undefined;
    this.#records.delete(id); // now the one that was used last
    this.#records.set(id, found);
    return found;
  }

  /** Remembers a record, or that there is none. */
  set(id: string, value: unknown): void {
    this.#records.delete(id);
    this.#records.set(id, { value });
    if (this.#records.size <= this.#limit) return;
    for (const oldest of this.#records.keys()) {
      this.#records.delete(oldest);
      break;
    }
  }

  /** Forgets everything: what is kept may not be what was written. */
  clear(): void {
    this.#records.clear();
  }
}
