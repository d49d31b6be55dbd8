/**
 * Objects of vodozemac in use, which are made of records when they are needed.
 *
 * @module
 */

import type { Transaction } from "./transaction.ts";

/**
 * Keeps the objects that were used last, so that they need not be made anew for each message.
 *
 * A step may change an object in place if it says so with {@link LiveObjects.changing}: should the step come to nothing, the
 * object goes, and the next to need it makes it of the record, which is as it was.
 */
export class LiveObjects<Live extends Disposable> {
  readonly #limit: number;
  readonly #objects = new Map<string, Live>();

  /** @param limit How many objects it keeps between steps. */
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
    let object = this.#objects.get(id);
    if (object !== undefined) this.#objects.delete(id);
    else {
      object = make();
      tx.onCommit(() => this.#trim());
      tx.onAbort(() => this.#trim());
    }
    this.#objects.set(id, object); // now the one that was used last
    return object;
  }

  /** Says that a step changes an object. */
  changing(tx: Transaction, id: string): void {
    tx.onAbort(() => this.evict(id));
  }

  /** Puts in a new object, of which there is no record yet. */
  add(tx: Transaction, id: string, object: Live): void {
    this.evict(id);
    this.#objects.set(id, object);
    tx.onCommit(() => this.#trim());
    tx.onAbort(() => this.evict(id));
  }

  /** Lets go of an object, whether the step comes to something or not. */
  evict(id: string): void {
    this.#objects.get(id)?.[Symbol.dispose]();
    this.#objects.delete(id);
  }

  /** Lets go of all objects. */
  clear(): void {
    for (const object of this.#objects.values()) object[Symbol.dispose]();
    this.#objects.clear();
  }

  #trim(): void {
    for (const [id] of this.#objects) {
      if (this.#objects.size <= this.#limit) return;
      this.evict(id);
    }
  }
}
