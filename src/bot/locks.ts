/**
 * Locks that runs hold until they have ended, by name.
 *
 * @module
 */

import { ValueError } from "../../mod.ts";

/** Who holds locks: anything that is one. */
type Holder = object;

/** A turn at a lock. */
interface Turn {
  readonly holder: Holder;
  /** Resolves when it is over. */
  readonly over: Promise<void>;
}

/** Locks by name. Who would wait for somebody who waits for them gets an error instead. */
export class Locks {
  /** The last turn at each lock. */
  readonly #last = new Map<string, Turn>();
  /** Whose turn each holder waits for. */
  readonly #waiting = new Map<Holder, Turn>();

  /**
   * Takes a lock, when those who asked before have released it.
   *
   * @param name The lock.
   * @param holder Who takes it; one may take a lock only once.
   * @returns Releases it.
   * @throws {ValueError} If the wait would never end.
   */
  async take(name: string, holder: Holder): Promise<() => void> {
    const before = this.#last.get(name);
    if (before !== undefined && this.#waitsFor(before, holder)) {
      throw new ValueError(
        `Cannot use "${name}" here: a handler that has it waits for what this one has; take both in the same order everywhere`,
      );
    }
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const mine = { holder, over };
    this.#last.set(name, mine);
    if (before !== undefined) {
      this.#waiting.set(holder, before);
      await before.over;
      this.#waiting.delete(holder);
    }
    return () => {
      if (this.#last.get(name) === mine) this.#last.delete(name);
      resolve();
    };
  }

  /** Does something while nobody else has a lock. */
  async within<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const release = await this.take(name, {});
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Whether a turn is a holder's, or waits for one of them, at last. */
  #waitsFor(turn: Turn, holder: Holder): boolean {
    for (let next: Turn | undefined = turn; next !== undefined; next = this.#waiting.get(next.holder)) {
      if (next.holder === holder) return true;
    }
    return false;
  }
}
