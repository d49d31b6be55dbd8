/**
 * Objects of vodozemac in use, which are made of records when they are needed.
 *
 * @module
 */

import type { Transaction } from "../records/transaction.ts";

interface Kept<Live> {
  readonly object: Live;
  /** Its place in the order in which objects came, or came anew. */
  since: number;
}

/** Which part of the objects goes at once, when there are too many: to find the oldest costs more than to let go of it. */
const PART = 1 / 16;

/**
 * Keeps the objects that were used last, so that they need not be made anew for each message.
 *
 * A step may change an object in place if it says so with {@link LiveObjects.changing}: should the step come to nothing, the
 * object goes, and the next to need it makes it of the record, which is as it was.
 *
 * An object that is used moves to the end only once half of the limit has come after it; see the weighed cache for why.
 */
export class LiveObjects<Live extends Disposable> {
  readonly #limit: number;
  readonly #objects = new Map<string, Kept<Live>>();
  #arrivals = 0;

  /** @param limit How many objects it keeps between steps at most; the last half of them are sure to stay. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many objects it holds. */
  get size(): number {
    return this.#objects.size;
  }

  /**
   * The object under a name.
   *
   * @param make Makes it of its record if it is not there.
   */
  get(tx: Transaction, id: string, make: () => Live): Live {
    const kept = this.#objects.get(id);
    if (kept !== undefined) {
      if (this.#arrivals - kept.since >= this.#limit / 2) this.#put(id, kept.object);
      return kept.object;
    }
    const object = make();
    this.#put(id, object);
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.#trim());
    return object;
  }

  /** Says that a step changes an object. */
  changing(tx: Transaction, id: string): void {
    tx.onAbort(() => this.evict(id));
  }

  /** Puts in a new object, of which there is no record yet. */
  add(tx: Transaction, id: string, object: Live): void {
    this.evict(id);
    this.#put(id, object);
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.evict(id));
  }

  /** Lets go of an object, whether the step comes to something or not. */
  evict(id: string): void {
    this.#objects.get(id)?.object[Symbol.dispose]();
    this.#objects.delete(id);
  }

  /** Lets go of all objects. */
  clear(): void {
    for (const { object } of this.#objects.values()) object[Symbol.dispose]();
    this.#objects.clear();
  }

  /** Puts an object at the end. */
  #put(id: string, object: Live): void {
    this.#objects.delete(id);
    this.#objects.set(id, { object, since: ++this.#arrivals });
  }

  #trim(): void {
    if (this.#objects.size <= this.#limit) return;
    const left = Math.floor(this.#limit * (1 - PART));
    for (const id of this.#objects.keys()) {
      if (this.#objects.size <= left) return;
      this.evict(id);
    }
  }
}
