/**
 * Keeps the second token: up to which handlers have settled.
 *
 * @module
 */

import { SharedRuns } from "../../base/shared_runs.ts";
import type { SyncToken } from "../../types/ids.ts";

/** Notes in the store up to where handlers have settled; several batches at once if they are fast. */
export class HandledMark {
  readonly #settled: (batch: number) => Promise<void>;
  readonly #note: (token: SyncToken) => Promise<void>;
  #latest: { readonly batch: number; readonly token: SyncToken } | undefined;
  /** Each ends when what was the latest batch at its start has been noted. */
  readonly #notes = new SharedRuns(() => this.#follow());

  /**
   * @param settled Resolves when the handlers of a batch and of those before have settled.
   * @param note Keeps a token.
   */
  constructor(settled: (batch: number) => Promise<void>, note: (token: SyncToken) => Promise<void>) {
    this.#settled = settled;
    this.#note = note;
  }

  /** Follows one more batch, with the token that its response ended with. */
  follows(batch: number, token: SyncToken): void {
    this.#latest = { batch, token };
    this.#notes.next().catch(() => {}); // the store that failed says so by its `done`
  }

  /**
   * Resolves when all that is followed by now has been noted.
   *
   * @throws What the store failed with.
   */
  async noted(): Promise<void> {
    await this.#notes.last;
  }

  async #follow(): Promise<void> {
    const latest = this.#latest;
    if (latest === undefined) return;
    await this.#settled(latest.batch);
    await this.#note(latest.token);
  }
}
