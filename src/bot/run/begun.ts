/**
 * What a run has begun and not ended, whether its functions await it or not.
 *
 * @module
 */

import { ConversationError } from "./errors.ts";
import type { RunEnd } from "./run_record.ts";
import type { RunTime } from "./patience.ts";
/** How many turns of the microtask queue pass until what comes after a step has begun, if it does. */
const TURNS = 30;

/** Counts what is under way. */
export class Begun {
  #pending = 0;
  /** Resolves when nothing is pending; undefined: nobody waits for that. */
  #idle: PromiseWithResolvers<void> | undefined;
  /** Resolves when what was done in turn last has ended; undefined: it has. */
  #last: Promise<void> | undefined;

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /** Does work, and counts it until it has ended. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#pending++;
    try {
      return await work();
    } finally {
      if (--this.#pending === 0) {
        this.#idle?.resolve();
        this.#idle = undefined;
      }
    }
  }

  /** Does work when what was to be done in turn before has ended. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last === undefined ? work() : this.#last.then(work);
    const over = (): void => {
      if (this.#last === last) this.#last = undefined;
    };
    const last: Promise<void> = this.#last = done.then(over, over);
    return done;
  }

  /** Waits until nothing is under way, and nothing begins in consequence. */
  async settled(): Promise<void> {
    do {
      if (this.#pending > 0) await (this.#idle ??= Promise.withResolvers()).promise;
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
    } while (this.#pending > 0);
  }
}

/** Says that a function went on: what that means, and what it did. */
type SayLate = (message: string, step: string) => void;

/** What watches functions that do not await what they do. */
export interface RunWatch {
  /** Says that they went on when the run had ended. */
  readonly late: SayLate;
  /** Gets what failed, and says whether it has seen to that. Default: the client does. */
  readonly unawaited?: (error: unknown) => boolean;
}

const LATE = "A function of the bot went on when it had ended, so that a crash loses what it does: await it";
const LEFT_BEHIND =
  "A function of the bot goes on while it waits for an answer: that is done when it comes; await one after the other";

/** The end of a run, and what comes after it. */
export class Afterwards {
  /** How the run has ended; undefined: it has not. */
  end: RunEnd["kind"] | undefined;
  readonly #say: SayLate;
  #isSaid = false;

  /** @param say Says that a function went on, once. */
  constructor(say: SayLate) {
    this.#say = say;
  }

  /** Does a step that is none any more. */
  async step<Result>(kind: string, work: () => Promise<Result>, time: RunTime): Promise<Result> {
    if (this.end === "done") time.check();
    if (this.end !== "refused") this.#sayOnce(kind); // of what is refused nothing counts
    return await (this.end === "done" ? work() : forever());
  }

  /** @throws {ConversationError} If the run has ended; those that were left behind by a wait go on to do nothing. */
  check(action: string): void {
    if (this.end !== "done") return;
    this.#sayOnce(action);
    throw new ConversationError(`Cannot ${action}: the function has ended; await what it does before`);
  }

  #sayOnce(step: string): void {
    if (this.#isSaid) return;
    this.#isSaid = true;
    this.#say(this.end === "waits" ? LEFT_BEHIND : LATE, step);
  }
}

/** Never settles. Each has a promise of its own: one for all would keep in memory all that await it. */
export function forever(): Promise<never> {
  return new Promise(() => {});
}
