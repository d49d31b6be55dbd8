/**
 * The queue in front of an actor.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import { AbortWatch } from "./abort_watch.ts";
import { Fifo, type Place } from "./fifo.ts";

/** What a mailbox carries. */
export interface Letter {
  /** Takes the letter back as long as nobody has received it. */
  readonly signal?: AbortSignal;
}

/**
 * A bounded queue, first in, first out, from many senders to one receiver.
 *
 * The first `capacity` letters are in the mailbox. Those behind them wait at its door, each with its sender, who learns
 * nothing before its letter is answered; they come in as the ones in front leave. {@link Mailbox.close} draws the line
 * there: what is inside will be received, what is at the door goes back.
 */
export class Mailbox<T extends Letter> {
  /** How many letters fit in; those behind wait at the door. */
  readonly capacity: number;
  readonly #queue = new Fifo<T>();
  readonly #aborts: AbortWatch<Place<T>>;
  readonly #refuse: (letter: T) => void;
  #wake: (() => void) | undefined;
  #closed = false;

  /**
   * Opens a mailbox.
   *
   * @param capacity How many letters fit in: a positive integer.
   * @param refuse Gets every letter that will never be received: sent too late, or taken back by its signal.
   * @throws {ValueError} If the capacity is no positive integer.
   */
  constructor(capacity: number, refuse: (letter: T) => void) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      throw new ValueError(`Cannot open a mailbox: its capacity is ${capacity}; give a positive integer`);
    }
    this.capacity = capacity;
    this.#refuse = refuse;
    this.#aborts = new AbortWatch((place) => {
      this.#queue.remove(place);
      refuse(place.item);
    });
  }

  /** How many letters are in the mailbox: at most `capacity`. */
  get size(): number {
    return Math.min(this.#queue.size, this.capacity);
  }

  /** How many letters wait at the door. */
  get waiting(): number {
    return this.#queue.size - this.size;
  }

  /** Sends a letter, which is received or refused in the end. */
  send(letter: T): void {
    const { signal } = letter;
    if (this.#closed || signal?.aborted) return this.#refuse(letter);
    const place = this.#queue.push(letter);
    if (signal !== undefined) this.#aborts.add(signal, place);
    this.#wakeReceiver();
  }

  /**
   * Waits for a letter. Until {@link Mailbox.take} takes it, its signal may still take it back: between the two there must
   * be no moment in which it belongs to nobody.
   *
   * @returns Whether there was one; `false` once the mailbox is closed and empty.
   */
  async ready(): Promise<boolean> {
    while (this.#queue.size === 0) {
      if (this.#closed) return false;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return true;
  }

  /** Takes the next letter out; `undefined` if there is none. */
  take(): T | undefined {
    return this.#leave(this.#queue.shift());
  }

  /** Takes no more letters and refuses those at the door; those inside can still be received. */
  close(): void {
    this.#closed = true;
    this.#refuseBehind(this.capacity);
    this.#wakeReceiver();
  }

  /** Closes, and refuses the letters inside as well. */
  clear(): void {
    this.#closed = true;
    this.#refuseBehind(0);
    this.#wakeReceiver();
  }

  #refuseBehind(length: number): void {
    const late: T[] = [];
    while (this.#queue.size > length) {
      const letter = this.#leave(this.#queue.pop());
      if (letter !== undefined) late.push(letter);
    }
    for (const letter of late.reverse()) this.#refuse(letter);
  }

  #leave(place: Place<T> | undefined): T | undefined {
    if (place?.item.signal !== undefined) this.#aborts.delete(place.item.signal, place);
    return place?.item;
  }

  #wakeReceiver(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
