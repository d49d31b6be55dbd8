/**
 * The queue of messages in front of an actor.
 *
 * @module
 */

interface Entry<T> {
  readonly item: T;
  next: Entry<T> | undefined;
}

/**
 * An unbounded queue, first in, first out, from many senders to one receiver.
 *
 * It holds no sender back: what may be on its way at a time is bounded where it enters, see "What
 * bounds memory" in ARCHITECTURE.md.
 */
export class Channel<T> {
  #first: Entry<T> | undefined;
  #last: Entry<T> | undefined;
  #wake: (() => void) | undefined;
  #isClosed = false;

  /**
   * Appends an item.
   *
   * @returns Whether it will be received; `false` once the channel is closed.
   */
  send(item: T): boolean {
    if (this.#isClosed) return false;
    const entry: Entry<T> = { item, next: undefined };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    this.#wakeReceiver();
    return true;
  }

  /**
   * Waits for an item. It stays in the channel until {@link Channel.take}, so that
   * {@link Channel.clear} finds it there.
   *
   * @returns Whether there is one; `false` once the channel is closed and empty.
   */
  async ready(): Promise<boolean> {
    if (this.#first === undefined && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#first !== undefined;
  }

  /** Removes the first item and returns it; `undefined` if there is none. */
  take(): T | undefined {
    const entry = this.#first;
    this.#first = entry?.next;
    if (this.#first === undefined) this.#last = undefined;
    return entry?.item;
  }

  /** Refuses further items. Those in the channel can still be received. */
  close(): void {
    this.#isClosed = true;
    this.#wakeReceiver();
  }

  /** Closes the channel, empties it, and returns what was in it. */
  clear(): T[] {
    this.close();
    const items: T[] = [];
    for (let entry = this.#first; entry !== undefined; entry = entry.next) items.push(entry.item);
    this.#first = undefined;
    this.#last = undefined;
    return items;
  }

  #wakeReceiver(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
