/**
 * Ways to do work: one piece after the other, once for several requests, a few at a time, with pauses, and
 * without those that fail.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { platform } from "./platform/mod.ts";

/** When a piece of work has its turn. */
interface TurnOptions<Subject> {
  /** What it is about: only work about the same waits for it. Default: all is about the same. */
  readonly of?: Subject;
  /** Ends the wait for the turn: those behind it then wait for those before it. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/** A turn for what comes later. */
interface KeptTurn {
  /**
   * Resolves when all that came before has ended; with whether that was to be waited for.
   *
   * @throws Why the wait was ended.
   */
  begun(): Promise<boolean>;
  /** Ends it, so that the next can begin. */
  end(): void;
}

/** Has pieces of work done one after the other, in the order in which they are given to it. */
export class Turns<Subject = undefined> {
  /** By what it is about, settles when the last work has ended; absent: nothing is under way. */
  readonly #last = new Map<Subject | undefined, Promise<void>>();

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#last.size === 0;
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    while (!this.isIdle) await Promise.all(this.#last.values());
  }

  /**
   * Does something at once, or when all that came before has ended, well or not.
   *
   * @throws What the work throws; those behind it have their turn all the same.
   */
  async take<Result>(
    work: () => Result | Promise<Result>,
    { of, signal }: TurnOptions<Subject> = {},
  ): Promise<Result> {
    const before = this.#last.get(of);
    const mine = Promise.withResolvers<void>();
    this.#last.set(of, mine.promise);
    try {
      if (before !== undefined) await (signal === undefined ? before : abortable(before, signal));
    } catch (error) {
      mine.resolve(before); // and it is the last until then, if nothing comes behind it
      mine.promise.then(() => this.#last.get(of) === mine.promise && this.#last.delete(of));
      throw error;
    }
    try {
      return await work();
    } finally {
      if (this.#last.get(of) === mine.promise) this.#last.delete(of);
      mine.resolve();
    }
  }

  /** Takes a turn for a part of work that is reached later. It lasts until it is ended, begun or not. */
  keep({ of, signal }: TurnOptions<Subject> = {}): KeptTurn {
    const before = this.#last.get(of);
    const ended = Promise.withResolvers<void>();
    let isBegun = before === undefined;
    const mine = before === undefined ? ended.promise : before.then(() => {
      isBegun = true;
      return ended.promise;
    });
    this.#last.set(of, mine);
    const forget = () => this.#last.get(of) === mine && this.#last.delete(of);
    return {
      begun: async () => {
        if (before === undefined || isBegun) return false;
        await (signal === undefined ? before : abortable(before, signal));
        return true;
      },
      end: () => {
        ended.resolve();
        if (before === undefined) forget();
        else void mine.then(forget);
      },
    };
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

/** Lets all other work of the process go on. */
export function pause(): Promise<void> {
  return new Promise((resolve) => platform.nextTask(resolve));
}

/**
 * Goes through many things, and pauses after each few.
 *
 * @param things What to go through.
 * @param count How many come between two pauses.
 * @param weigh For how many a thing counts. Default: one.
 */
export async function* withPauses<Thing>(
  things: Iterable<Thing>,
  count: number,
  weigh: (thing: Thing) => number = () => 1,
): AsyncGenerator<Thing> {
  let done = 0;
  for (const thing of things) {
    if (done >= count) {
      await pause();
      done = 0;
    }
    done += weigh(thing);
    yield thing;
  }
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
