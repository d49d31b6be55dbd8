/**
 * Keeps the second token: up to which handlers have settled.
 *
 * @module
 */

import type { SyncToken } from "../types/ids.ts";

/** Notes in the store up to where handlers have settled; several batches at once if they are fast. */
export class HandledMark {
  readonly #settled: (batch: number) => Promise<void>;
  readonly #note: (token: SyncToken) => Promise<void>;
  #latest: { readonly batch: number; readonly token: SyncToken } | undefined;
  #following: Promise<void> = Promise.resolve();
  #idle = true;

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
    if (!this.#idle) return;
    this.#following = this.#follow();
    this.#following.catch(() => {}); // the store that failed says so by its `done`
  }

  /** Resolves when all that was followed has been noted. */
  async noted(): Promise<void> {
    await this.#following;
  }

  async #follow(): Promise<void> {
    this.#idle = false;
    try {
      while (this.#latest !== undefined) {
        const { batch, token } = this.#latest;
        this.#latest = undefined;
        await this.#settled(batch);
        await this.#note(token);
      }
    } finally {
      this.#idle = true;
    }
  }
}
