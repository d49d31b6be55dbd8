/**
 * A queue from whose middle an item can leave.
 *
 * @module
 */

/** The place of an item in a {@link Fifo}. */
export interface Place<T> {
  /** The item. */
  readonly item: T;
  /** The place in front. */
  previous: Place<T> | undefined;
  /** The place behind. */
  next: Place<T> | undefined;
}

/** First in, first out; every operation takes constant time. */
export class Fifo<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  /** How many items are in the queue. */
  get size(): number {
    return this.#size;
  }

  /**
   * Appends an item.
   *
   * @param item The item.
   * @returns Its place, by which it can leave before its turn.
   */
  push(item: T): Place<T> {
    const place: Place<T> = { item, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.next = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  /** Takes the place at the front out; `undefined` if there is none. */
  shift(): Place<T> | undefined {
    const place = this.#first;
    if (place !== undefined) this.remove(place);
    return place;
  }

  /** Takes the place at the back out; `undefined` if there is none. */
  pop(): Place<T> | undefined {
    const place = this.#last;
    if (place !== undefined) this.remove(place);
    return place;
  }

  /** Takes a place out that is in this queue. */
  remove(place: Place<T>): void {
    const { previous, next } = place;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    this.#size--;
  }
}
