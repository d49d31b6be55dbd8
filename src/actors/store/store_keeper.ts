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

/** Renews the lease, and commits deferred changes if nothing else does. Between the two nothing wakes up. */
export class StoreKeeper {
  /** The Store, which is asked as others ask it. */
  store: KeptStore | undefined;
  /** Resolves when nothing is under way any more. */
  ended: Promise<void> | undefined;
  readonly #writer: StoreWriter;
  readonly #clock: Clock;

  /**
   * @param writer Has the lease, and the changes.
   * @param clock Measures both.
   */
  constructor(writer: StoreWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** Begins, the first time, and goes on until the Store is stopping. */
  begin(stopping: AbortSignal): void {
    this.ended ??= this.#keep(stopping);
  }

  async #keep(stopping: AbortSignal): Promise<void> {
    const writer = this.#writer;
    const passes = (ms: number) => this.#clock.delay(ms, { signal: stopping });
    const watch = () =>
      writer.onDeferred = () => {
        writer.onDeferred = undefined;
        // It rejects when the Store is stopping, or has failed, and rejects its `done`.
        passes(MAX_DEFERRED).then(() => (watch(), this.#flush())).catch(() => {});
      };
    watch()(); // the opening may have left something
    try {
      for (;;) {
        await passes(writer.isKept ? writer.dueIn : Math.min(writer.dueIn, MAX_DEFERRED));
        if (writer.isLeftOver) await this.store?.handBack({ hears: false }); // a call between two passes has taken it
        else await this.#flush();
      }
    } catch {
      // As above.
    }
  }

  async #flush(): Promise<void> {
    if (!this.#writer.isResting) await this.store?.flush();
  }
}
