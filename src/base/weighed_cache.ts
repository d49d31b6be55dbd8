/**
 * A cache whose entries are of very different size.
 *
 * @module
 */

interface Weighed<Value> {
  value: Value;
  weight: number;
  /** Its place in the order in which entries came, or came anew. */
  since: number;
}

/**
 * Keeps what was used last, up to a total weight.
 *
 * An entry that is used moves to the end only once half of the others have come after it: in a map, an entry that is taken out
 * and put in again leaves a trace in its bucket until the map is made anew, and one that many messages need would cost each of
 * them more the more others there are.
 */
export class WeighedCache<Key, Value> {
  readonly #limit: number;
  readonly #entries = new Map<Key, Weighed<Value>>();
  #total = 0;
  #arrivals = 0;

  /** @param limit What the entries may weigh together; the one that was put in last stays even if it is heavier. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What is kept under a key. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#use(key, entry);
    return entry.value;
  }

  /** Keeps something, and lets go of what has not been used for longest if there is too much. */
  set(key: Key, value: Value, weight: number): void {
    const entry = this.#entries.get(key);
    this.#total += weight - (entry?.weight ?? 0);
    if (entry === undefined) this.#entries.set(key, { value, weight, since: ++this.#arrivals });
    else {
      this.#use(key, entry);
      entry.value = value;
      entry.weight = weight;
    }
    if (this.#total <= this.#limit) return; // before anybody looks for the oldest, past all that was taken out
    for (const oldest of this.#entries.keys()) {
      if (oldest !== key) this.delete(oldest);
      if (this.#total <= this.#limit) return;
    }
  }

  /** Lets go of something. */
  delete(key: Key): void {
    this.#total -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }

  #use(key: Key, entry: Weighed<Value>): void {
    if (this.#arrivals - entry.since < this.#entries.size / 2) return;
    this.#entries.delete(key); // now the one that was used last
    entry.since = ++this.#arrivals;
    this.#entries.set(key, entry);
  }

  /** Lets go of everything. */
  clear(): void {
    this.#entries.clear();
    this.#total = 0;
  }
}
