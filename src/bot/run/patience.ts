/**
 * What a run has begun and not ended, whether its functions await it or not,
 * and what gives up that takes too long.
 *
 * @module
 */

import { type Clock, ValueError } from "../../../mod.ts";
import { alarm, inMilliseconds, written } from "../../base/clock.ts";
import { Turns } from "../../base/runs.ts";

/** Something that is under way. */
interface UnderWay {
  /** When it began. */
  readonly from: number;
  readonly time: RunTime;
  readonly reject: (error: Error) => void;
}

const LIMIT = 600_000;
/** After how many milliseconds somebody looks why there is no answer yet. */
const SLOW = 30_000;
const NOTHING = (): void => {};

/** Waits for work, but not for ever. One timer is enough for all of it, since all has the same time. */
export class Patience {
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #slow: (time: RunTime) => void;
  /** From old to new, so that the first one is due first. */
  readonly #underWay = new Set<UnderWay>();
  /** Those that have not taken long, in the same order. */
  readonly #quick = new Set<UnderWay>();
  /** Ends the wait for what has to end first; undefined: nothing is under way. */
  #endAlarm: (() => void) | undefined;

  /**
   * @param clock Measures the time.
   * @param limit How long work may take: like `30m`, or in milliseconds. Default: 10 minutes.
   * @param slow Hears once of work that has not ended after 30 seconds. Default: nobody does.
   * @throws {ValueError} If it is no time.
   */
  constructor(clock: Clock, limit: number | string = LIMIT, slow: (time: RunTime) => void = NOTHING) {
    const ms = inMilliseconds(limit);
    if (!(ms > 0 && Number.isFinite(ms))) {
      throw new ValueError(
        `Cannot make a bot: handlerTimeout is ${written(limit)}; write it like "30m", or in milliseconds`,
      );
    }
    this.#clock = clock;
    this.#limit = ms;
    this.#slow = slow;
  }

  /**
   * Waits until work has ended, or has taken too long.
   *
   * @param work The work; in vain, it may go on.
   * @param time Its time, which ends with the patience.
   * @throws {ValueError} If it takes too long.
   */
  until(work: Promise<unknown>, time: RunTime): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const mine: UnderWay = { from: this.#clock.now(), time, reject };
    this.#underWay.add(mine);
    if (this.#limit > SLOW) this.#quick.add(mine);
    if (this.#endAlarm === undefined) this.#watch();
    work.then(() => {
      this.#over(mine);
      resolve();
    }, (error) => {
      this.#over(mine);
      reject(error);
    });
    return promise;
  }

  /** Gives up all that is under way. */
  end(reason: Error): void {
    for (const work of this.#underWay) {
      this.#over(work);
      work.time.end(reason);
      work.reject(reason);
    }
  }

  #over(work: UnderWay): void {
    if (!this.#underWay.delete(work)) return; // it was given up
    this.#quick.delete(work);
    if (this.#underWay.size > 0) return;
    this.#endAlarm?.(); // a bot's author looks for leaks in tests
    this.#endAlarm = undefined;
  }

  /** Tells of what takes long, gives up what takes too long, and looks again at the time of the next. */
  #watch(): void {
    const now = this.#clock.now();
    for (const quick of this.#quick) {
      if (quick.from + SLOW > now) break;
      this.#quick.delete(quick);
      this.#slow(quick.time);
    }
    for (const first of this.#underWay) {
      if (first.from + this.#limit > now) break;
      this.#underWay.delete(first);
      this.#giveUp(first);
    }
    const [[first], [quick]] = [this.#underWay, this.#quick];
    const next = Math.min((first?.from ?? Infinity) + this.#limit, (quick?.from ?? Infinity) + SLOW);
    this.#endAlarm = next === Infinity ? undefined : alarm(this.#clock, next - now, () => this.#watch());
  }

  #giveUp({ time, reject }: UnderWay): void {
    const error = new ValueError(
      `A bot's function took more than ${this.#limit} ms for one event, or time: have it heed c.signal, or raise handlerTimeout; ` +
        "if it waits for another event of the user, which comes only after it, let it ask with c.ask() or c.wait()",
    );
    time.end(error);
    reject(error);
  }
}

/** The time of a run. Its signal is made when somebody asks for it: most runs are short. */
export class RunTime {
  /** Aborted when the bot is closed. */
  readonly bot: AbortSignal;
  #late: AbortController | undefined;
  #whenOver: ((reason: Error) => void) | undefined;
  /** What is done in it, for the log; undefined: no function has been called yet. */
  what: Readonly<Record<string, unknown>> | undefined;
  /** Tells the user that a command has failed, unless `bot.catch()` says something; undefined: none has. */
  sayFailed: (() => Promise<void>) | undefined;
  #hasToldFailure = false;
  /** Why the run was given up: it took too long, or its bot was closed; undefined: it was not. */
  #reason: Error | undefined;

  /** @param bot Aborted when the bot is closed. */
  constructor(bot: AbortSignal) {
    this.bot = bot;
  }

  /** Tells the user that a command has failed, once. */
  async tellFailure(say: (() => Promise<void>) | undefined = this.sayFailed): Promise<void> {
    if (say === undefined || this.#hasToldFailure) return;
    this.#hasToldFailure = true;
    await say();
  }

  /** Has something called when the run is given up, in place of what was to be called before. */
  whenOver(call: (reason: Error) => void): void {
    if (this.#reason === undefined) this.#whenOver = call;
    else call(this.#reason);
  }

  /** Aborts when the run is given up, or as soon as its bot begins to close. */
  get signal(): AbortSignal {
    return AbortSignal.any([this.bot, this.requests]);
  }

  /** The same for what the run sends, which may arrive while the bot closes: aborts when that is done. */
  get requests(): AbortSignal {
    if (this.#late === undefined) {
      this.#late = new AbortController();
      if (this.#reason !== undefined) this.#late.abort(this.#reason);
    }
    return this.#late.signal;
  }

  /** Whether the run was given up. */
  get isOver(): boolean {
    return this.#reason !== undefined;
  }

  /** Gives the run up. */
  end(reason: Error): void {
    this.#reason = reason;
    this.#late?.abort(reason);
    this.#whenOver?.(reason);
  }

  /** @throws Why the run was given up, or its bot closes, if either is so. */
  check(): void {
    this.bot.throwIfAborted();
    if (this.#reason !== undefined) throw this.#reason;
  }
}

/** How many turns of the microtask queue pass until what comes after a step has begun, if it does. */
const TURNS = 30;

/** Counts what is under way. */
export class Begun {
  #pending = 0;
  /** Resolves when nothing is pending; undefined: nobody waits for that. */
  #idle: PromiseWithResolvers<void> | undefined;
  /** What is to be done one after the other. */
  readonly turns: Turns = new Turns();

  /** Whether nothing is under way. */
  get isIdle(): boolean {
    return this.#pending === 0 && this.turns.isIdle;
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

  /** Waits until nothing is under way, and nothing begins in consequence. */
  async settled(): Promise<void> {
    do {
      if (this.#pending > 0) await (this.#idle ??= Promise.withResolvers()).promise;
      await this.turns.settled();
      for (let turn = 0; turn < TURNS; turn++) await Promise.resolve();
    } while (!this.isIdle);
  }
}

/** What watches functions that do not await what they do. */
export interface RunWatch {
  /** Says that they went on when the run had ended. */
  readonly late: (message: string, step: string) => void;
  /** Gets what failed, and says whether it has seen to that. Default: the client does. */
  readonly unawaited?: (error: unknown) => boolean;
}

/** Never settles. Each has a promise of its own: one for all would keep in memory all that await it. */
export function forever(): Promise<never> {
  return new Promise(() => {});
}
