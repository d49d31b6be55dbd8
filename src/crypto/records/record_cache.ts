/**
 * Records that have been read or written lately.
 *
 * @module
 */

interface Known {
  readonly value: unknown;
}

/**
 * Remembers the records that were used last, and that there is none under a key: at least the last half of as many as it may.
 *
 * Two generations, and not one map that has what is used moved to its end: in a map, an entry that is taken out and put in
 * again leaves a trace in its bucket until the map is made anew, so that the few records that every message needs would cost
 * more the more others there are (measured: 20 µs a use among 9,000).
 */
export class RecordCache {
  readonly #half: number;
  #young = new Map<string, Known>();
  #old = new Map<string, Known>();

  /** @param limit How many records it remembers at most. */
  constructor(limit: number) {
    this.#half = Math.max(1, limit >> 1);
  }

  /** What is known of a key; undefined: nothing, not even whether there is a record. */
  get(id: string): Known | undefined {
    const young = this.#young.get(id);
    if (young !== undefined) return young;
    const old = this.#old.get(id);
    if (old !== undefined) this.#remember(id, old);
    return old;
  }

  /** Remembers a record, or that there is none. */
  set(id: string, value: unknown): void {
    this.#remember(id, { value });
  }

  /** Forgets everything: what is kept may not be what was written. */
  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  #remember(id: string, known: Known): void {
    this.#young.set(id, known);
    if (this.#young.size < this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
