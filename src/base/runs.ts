/**
 * Ways to do work: one piece after the other, once for several requests, a few at a time, and without those
 * that fail.
 *
 * @module
 */

/** Has pieces of work done one after the other. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Does something when all that came before has ended, well or not.
   *
   * @throws What the work throws; those behind it have their turn all the same.
   */
  take<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.then(() => {}, () => {}); // which keeps no result in memory
    return result;
  }
}

/**
 * Runs some work, one run at a time. A request that comes while a run is under way may be too late
 * for that one, and shares the next with all others that come meanwhile. After a run has failed,
 * all fail with its error.
 */
export class SharedRuns {
  readonly #work: () => Promise<void>;
  /** Settles with the last run that has begun. */
  #current: Promise<void> = Promise.resolve();
  /** Settles with the one after it. */
  #next: Promise<void> | undefined;
  #isBusy = false;

  /** @param work What to run. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves with a run that begins from now on. */
  next(): Promise<void> {
    return this.#next ??= this.#run();
  }

  /** Settles with the last run that was requested. */
  get last(): Promise<void> {
    return this.#next ?? this.#current;
  }

  /** The same while a run is under way or requested; otherwise undefined. */
  get pending(): Promise<void> | undefined {
    return this.#next ?? (this.#isBusy ? this.#current : undefined);
  }

  async #run(): Promise<void> {
    await this.#current;
    this.#current = this.#next ?? this.#current;
    this.#next = undefined;
    this.#isBusy = true;
    try {
      await this.#work();
    } finally {
      this.#isBusy = false;
    }
  }
}

/**
 * Works on several things, a few at a time. After a failure nothing more is begun.
 *
 * @param things What to work on.
 * @param limit How many are worked on at once.
 * @param work The work.
 * @throws The first failure, when all that was begun has ended.
 */
export async function sideBySide<Thing>(
  things: readonly Thing[],
  limit: number,
  work: (thing: Thing) => Promise<unknown>,
): Promise<void> {
  const queue = things.values(); // shared: each thing is taken once
  let failure: { readonly error: unknown } | undefined;
  const takeNext = async (): Promise<void> => {
    for (const thing of queue) {
      try {
        await work(thing);
      } catch (error) {
        failure ??= { error };
      }
      if (failure !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, things.length) }, takeNext));
  if (failure !== undefined) throw failure.error;
}

/**
 * Finds those that fail by themselves, by halves.
 *
 * @param count How many there are.
 * @param most How many may be found.
 * @param works Whether it succeeds with those from `start` to before `end` alone.
 * @returns Their places, in order; undefined if there are more of them.
 */
export async function culprits(
  count: number,
  most: number,
  works: (start: number, end: number) => Promise<boolean>,
): Promise<number[] | undefined> {
  const found: number[] = [];
  const search = async (start: number, end: number): Promise<void> => {
    if (found.length > most || await works(start, end)) return;
    if (end - start === 1) return void found.push(start);
    const middle = (start + end) >> 1;
    await search(start, middle);
    await search(middle, end);
  };
  if (count > 0) await search(0, count);
  return found.length > most ? undefined : found;
}
