/**
 * What the Store does by itself: it renews the lease, and commits changes that nothing else commits.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { StoreWriter } from "./writer.ts";

/** How long a change may wait for a commit to go along with, in milliseconds. */
const MAX_DEFERRED = 5_000;

/** What of the Store is asked. */
interface KeptStore {
  flush(): Promise<void>;
  handBack(body: { readonly hears: boolean }): Promise<boolean>;
}

/**
 * Renews the lease, and commits deferred changes if nothing else does. Between the two nothing wakes up.
 * Without the device and without such changes it has no timer, so that a program can end.
 */
export class StoreKeeper {
  /** The Store, which is asked as others ask it. */
  store: KeptStore | undefined;
  /** Resolves when nothing is under way any more. */
  ended: Promise<void> | undefined;
  readonly #writer: StoreWriter;
  readonly #clock: Clock;
  /** Ends all; undefined: nothing has begun. */
  #stopping: AbortSignal | undefined;
  /** Ends the renewals; undefined: there are none. */
  #renewing: AbortController | undefined;
  /** Ends the wait for a commit to go along with. */
  #waiting = new AbortController();

  /**
   * @param writer Has the lease, and the changes.
   * @param clock Measures both.
   */
  constructor(writer: StoreWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** Begins, the first time, and ends when the Store is stopping. */
  begin(stopping: AbortSignal): void {
    if (this.#stopping !== undefined) return;
    this.#stopping = stopping;
    this.taken();
    this.#watch();
    if (this.#writer.hasDeferred) this.#writer.onDeferred?.(); // the opening may have left something
  }

  /** The device was taken. */
  taken(): void {
    if (this.#stopping === undefined || this.#renewing !== undefined) return;
    const ending = this.#renewing = new AbortController();
    const renewing = stoppable(this.#stopping, ending, (signal) => this.#keep(signal));
    this.ended = Promise.all([this.ended, renewing]).then(() => {});
  }

  /** The device was handed back. */
  handedBack(): void {
    this.#renewing?.abort();
    this.#renewing = undefined;
    if (this.#writer.hasDeferred) return;
    this.#waiting.abort();
    this.#watch();
  }

  #watch(): void {
    const stopping = this.#stopping;
    if (stopping === undefined) return;
    const waiting = this.#waiting = new AbortController();
    this.#writer.onDeferred = () => {
      this.#writer.onDeferred = undefined;
      const flush = () => (this.#watch(), this.store?.flush());
      // It rejects when the Store is stopping, or has failed, and rejects its `done`.
      stoppable(stopping, waiting, (signal) => this.#clock.delay(MAX_DEFERRED, { signal })).then(flush).catch(
        () => {},
      );
    };
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const writer = this.#writer;
    try {
      for (;;) {
        const { isKept, dueIn } = writer;
        await this.#clock.delay(isKept ? dueIn : Math.min(dueIn, MAX_DEFERRED), { signal });
        // A call between two passes has taken it.
        if (writer.isLeftOver) await this.store?.handBack({ hears: false });
        else await this.store?.flush();
      }
    } catch {
      // As above.
    }
  }
}

/**
 * Does work that ends with a signal, too. `AbortSignal.any()` would leave something at the signal each time.
 */
async function stoppable(
  stopping: AbortSignal,
  ending: AbortController,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const end = () => ending.abort(stopping.reason);
  if (stopping.aborted) end();
  stopping.addEventListener("abort", end);
  try {
    await work(ending.signal);
  } finally {
    stopping.removeEventListener("abort", end);
  }
}
