/**
 * Waiting until something has happened, without asking again and again.
 *
 * @module
 */

import { within } from "../e2e/support/deadline.ts";

/** How long something may take, in milliseconds. */
const PATIENCE = 30_000;

/** Notifies waiters of changes. */
export class Noticeboard {
  #news = Promise.withResolvers<void>();

  /** Something has happened. */
  changed(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /**
   * Waits until something holds.
   *
   * @param what That, in words, for when it never does.
   */
  async until(what: string, holds: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE;
    while (!holds()) {
      await within(this.#news.promise, Math.max(1, end - performance.now()), what);
    }
  }
}
