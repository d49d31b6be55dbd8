/**
 * Locks by name, for handlers that would change the same.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";

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
  /** Which turns each holder waits for. */
  readonly #waiting = new Map<Holder, Set<Turn>>();

  /**
   * Takes a lock, when those who asked before have released it.
   *
   * @param name The lock.
   * @param holder Who takes it; one may take a lock only once.
   * @returns Releases it.
   * @throws {ValueError} If the wait would never end.
   */
  async take(name: string, holder: Holder): Promise<() => void> {
    return await this.#take(name, holder, holder);
  }

  /**
   * Does something while nobody else has a lock.
   *
   * @param holder Who waits for it, and may do so several times. Default: nobody who has other locks.
   * @throws {ValueError} If the wait would never end.
   */
  async within<Result>(name: string, work: () => Promise<Result>, holder: Holder = {}): Promise<Result> {
    const release = await this.#take(name, {}, holder);
    try {
      return await work();
    } finally {
      release();
    }
  }

  async #take(name: string, holder: Holder, waits: Holder): Promise<() => void> {
    const before = this.#last.get(name);
    if (before !== undefined && this.#waitsFor(before, waits)) {
      throw new ValueError(
        `Cannot use "${name}" here: a handler that has it waits for what this one has; take both in the same order everywhere`,
      );
    }
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const mine = { holder, over };
    this.#last.set(name, mine);
    if (before !== undefined) await this.#wait(before, [holder, waits]);
    return () => {
      if (this.#last.get(name) === mine) this.#last.delete(name);
      resolve();
    };
  }

  /** Waits until a turn is over. */
  async #wait(turn: Turn, holders: readonly Holder[]): Promise<void> {
    for (const each of holders) {
      this.#waiting.set(each, (this.#waiting.get(each) ?? new Set()).add(turn));
    }
    await turn.over;
    for (const each of holders) {
      const turns = this.#waiting.get(each);
      turns?.delete(turn);
      if (turns?.size === 0) this.#waiting.delete(each);
    }
  }

  /** Returns whether a turn is a holder's, or waits for one of them, at last. */
  #waitsFor({ holder: its }: Turn, holder: Holder): boolean {
    return its === holder || [...this.#waiting.get(its) ?? []].some((turn) => this.#waitsFor(turn, holder));
  }
}
