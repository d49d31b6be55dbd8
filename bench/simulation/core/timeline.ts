/**
 * Virtual time: one queue of everything that is going to happen.
 *
 * @module
 */

import type { Clock } from "../../../src/base/clock.ts";
import type { Trace } from "./trace.ts";

/** Something that is going to happen. */
interface Entry {
  readonly at: number;
  readonly what: string;
  readonly happen: () => void;
}

/** Somebody who waits until something is over. */
interface Wait {
  readonly isOver: () => boolean;
  readonly end: () => void;
}

/** The runtime's own function, as it was before a simulation replaces any. */
const { setImmediate } = globalThis;

/**
 * Lets everything run that is ready to: promise jobs run until there are none, and nothing in a
 * simulation waits for the event loop.
 */
export function drain(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The queue. Between two entries, whatever the first one woke runs until it waits again. */
export class Timeline {
  readonly #trace: Trace;
  /** The latest first. */
  readonly #entries: Entry[] = [];
  #now = Date.UTC(2025, 0, 1);
  #lastInstant = 0;
  /** Whether a call of {@linkcode pass} has things happen. */
  #isPassing = false;
  readonly #waits = new Set<Wait>();

  /** @param trace Where each entry is noted when it happens. */
  constructor(trace: Trace) {
    this.#trace = trace;
  }

  /** The time, in whole milliseconds since the epoch. */
  get now(): number {
    return this.#now;
  }

  /** How many entries are waiting. */
  get waiting(): number {
    return this.#entries.length;
  }

  /**
   * Adds an entry.
   *
   * @param delay In how many milliseconds.
   * @param what What it is, for the trace; empty: it is not noted.
   * @param happen Is called then.
   * @returns Removes the entry.
   */
  schedule(delay: number, what: string, happen: () => void): () => void {
    const entry: Entry = { at: this.#now + Math.max(0, Math.round(delay)), what, happen };
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as Entry).at > entry.at) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, entry);
    return () => {
      const index = this.#entries.indexOf(entry);
      if (index >= 0) this.#entries.splice(index, 1);
    };
  }

  /** Moves on to a millisecond in which no other instant is: so that what happens has an order. */
  instant(): number {
    this.#now = this.#lastInstant = Math.max(this.#now, this.#lastInstant + 1);
    return this.#now;
  }

  /** Lets time go by in which nothing happens: what is due then happens afterwards. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /**
   * Has everything happen that is due within some time.
   *
   * One call at a time has things happen. Who calls while another does waits for that.
   *
   * @param ms How long, in milliseconds.
   * @param isOver Is asked whenever something has happened: whether to stop before that. Default: never.
   */
  async pass(ms: number, isOver: () => boolean = () => false): Promise<void> {
    if (this.#isPassing) return await this.#wait(ms, isOver);
    this.#isPassing = true;
    try {
      const end = this.#now + ms;
      await this.#drain();
      while (!isOver()) {
        const entry = this.#entries.at(-1);
        if (entry === undefined || entry.at > end) {
          this.#now = Math.max(this.#now, end);
          break;
        }
        this.#entries.pop();
        this.#now = Math.max(this.#now, entry.at);
        if (entry.what !== "") this.#trace.note(this.#now, entry.what);
        entry.happen();
        await this.#drain();
      }
    } finally {
      this.#isPassing = false;
    }
  }

  /** Waits while another call has things happen. */
  #wait(ms: number, isOver: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      this.#waits.delete(wait);
      cancel();
      resolve();
    };
    const wait: Wait = { isOver, end };
    const cancel = this.schedule(ms, "", end);
    this.#waits.add(wait);
    return promise;
  }

  /** Lets everything run that is ready to, and whoever waits for what has come of it. */
  async #drain(): Promise<void> {
    await drain();
    while (true) {
      const over = this.#waits.values().find(({ isOver }) => isOver());
      if (over === undefined) return;
      over.end();
      await drain();
    }
  }

  /** The clock of the homeserver. */
  clock(): Clock {
    return {
      now: () => this.#now,
      delay: (ms, { signal } = {}) => {
        if (signal?.aborted) return Promise.reject(signal.reason);
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const cancel = this.schedule(ms, "", () => {
          signal?.removeEventListener("abort", abort);
          this.instant();
          resolve();
        });
        const abort = () => {
          cancel();
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", abort, { once: true });
        return promise;
      },
    };
  }
}
