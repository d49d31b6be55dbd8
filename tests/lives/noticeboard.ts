/**
 * Waiting until something has happened, without asking again and again.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { PATIENCE_MS, within } from "../e2e/support/deadline.ts";

/** After how long more is done, so that what the homeserver has kept back comes, in milliseconds. */
const KEPT_BACK = 8_000;

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
   * @param goOn Does more, where what this waits for may come only after something else. Default: nothing is
   * done.
   */
  async until(what: string, holds: () => boolean, goOn?: () => Promise<unknown>): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    const isOver = new AbortController();
    const more = goOn === undefined ? undefined : again(goOn, isOver.signal);
    try {
      while (!holds()) {
        await within(this.#news.promise, what, Math.max(1, end - performance.now()));
      }
    } finally {
      isOver.abort();
      await more;
    }
  }
}

/** Does something again and again; if it fails, the one who waits for it will say so. */
async function again(what: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    await delay(KEPT_BACK, { signal }).catch(() => {});
    if (signal.aborted) return;
    await what().catch(() => {});
  }
}
