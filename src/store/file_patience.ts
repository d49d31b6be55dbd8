/**
 * Waits for another process that has locked a store's file, while this one goes on with all else.
 *
 * @module
 */

import { type Clock, systemClock } from "../base/clock.ts";

/** How long to wait by default, in milliseconds: as for a server that is away. */
export const PATIENCE = 30_000;

/** The shortest and the longest wait between tries, in milliseconds. */
const FIRST_WAIT = 10;
const LONGEST_WAIT = 250;

/** What it takes. */
export interface FilePatienceOptions {
  /** How long to wait, in milliseconds. Default: 30,000. */
  readonly patience?: number;
  /** Measures that. Default: the machine's own. */
  readonly clock?: Clock;
}

/** Has work done again while a file is locked. */
export class FilePatience {
  readonly #patience: number;
  readonly #clock: Clock;
  readonly #ending = new AbortController();

  /** @param options How long. */
  constructor({ patience = PATIENCE, clock = systemClock }: FilePatienceOptions = {}) {
    this.#patience = patience;
    this.#clock = clock;
  }

  /**
   * Does work, and does it again while it fails since the file is locked.
   *
   * @param isLocked Whether an error says that.
   * @throws What the work threw last, when the patience is over, or with {@link FilePatience.end}.
   */
  async keepTrying<Result>(
    work: () => Result | Promise<Result>,
    isLocked: (error: unknown) => boolean,
  ): Promise<Result> {
    let begun: number | undefined;
    for (let wait = FIRST_WAIT;; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        return await work();
      } catch (error) {
        if (!isLocked(error)) throw error;
        const now = this.#clock.now();
        begun = Math.min(begun ?? now, now); // the clock may be set back
        if (this.#ending.signal.aborted || now - begun + wait > this.#patience) throw error;
        await this.#clock.delay(wait, { signal: this.#ending.signal }).catch(() => {});
      }
    }
  }

  /** Ends all waits, after one more try each. */
  end(): void {
    this.#ending.abort();
  }
}
