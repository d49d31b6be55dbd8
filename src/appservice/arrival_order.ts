/**
 * Keeps transactions in order, as far as the homeserver lets it: what comes in place of another is
 * refused, so that it is sent again after that one.
 *
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import { Refusal } from "../base/refusal.ts";
import type { Inbox } from "./inbox.ts";

/** How soon another transaction follows one that was refused, in milliseconds, before that comes again. */
const OVERTAKING = 2_000;
/** How many numbers may be left out; more are numbers that mean something else. */
const MAX_LEFT_OUT = 50;
/**
 * After how long what is left out is looked at again where nothing was missing, in milliseconds: twice as long
 * each time.
 */
const [FIRST_PAUSE, LONGEST_PAUSE] = [10_000, 3_600_000];
/** When to come back, in seconds. */
const SOON = { "retry-after": "5" };

/**
 * Which transaction may come next.
 *
 * Synapse sends a transaction that has failed again, with all that were made meanwhile. One that it
 * makes in the moment in which all are sent stays there until another fails. It numbers them, so the
 * next one shows that one is missing, unless another process has kept it: it is refused, and both
 * come. The numbers of all application services of a Synapse are one sequence: where none was missing, it
 * is not looked at again for a while, since that takes two seconds, and may itself be such a moment.
 */
export class ArrivalOrder {
  readonly #clock: Clock;
  readonly #inbox: Pick<Inbox, "hasAll">;
  /** The transaction that was refused last, until it comes again, and when. */
  #refused: { readonly id: string; readonly at: number } | undefined;
  /** The number of the transaction that was taken last; NaN: none was, or it has no number. */
  #last = NaN;
  /** The numbers that were left out since that was looked at: the latest. */
  #leftOut: readonly string[] = [];
  /** The transaction that was refused since one before it may be missing, and whether one was. */
  #question: { readonly id: string; wasGood: boolean } | undefined;
  /** When the last of those was refused, and how long nothing is looked at after that. */
  #pause = { since: 0, ms: 0 };

  /**
   * @param clock Measures the time.
   * @param inbox Has what any process has kept.
   */
  constructor(clock: Clock, inbox: Pick<Inbox, "hasAll">) {
    this.#clock = clock;
    this.#inbox = inbox;
  }

  /**
   * Looks whether a transaction may be taken.
   *
   * @throws {Refusal} If another is to come before it.
   */
  async check(id: string): Promise<void> {
    const number = numberOf(id);
    const [refused, question] = [this.#refused, this.#question];
    if (question !== undefined && number < numberOf(question.id)) question.wasGood = true;
    if (refused !== undefined && number < numberOf(refused.id)) {
      this.#last = number; // it was missing
      return;
    }
    this.#refused = undefined;
    if (refused !== undefined && refused.id !== id && this.#isWithin(OVERTAKING, refused.at)) {
      throw new Refusal(503, "M_UNKNOWN", "Another comes before this one", SOON);
    }
    if (question?.id === id) this.#answered(question.wasGood);
    else {
      this.#noteLeftOut(number);
      if (this.#isTimeToLook() && !await this.#hasAllLeftOut()) {
        this.#question = { id, wasGood: false };
        [this.#leftOut, this.#pause] = [[], { ...this.#pause, since: this.#clock.now() }];
        this.refused(id);
        throw new Refusal(503, "M_UNKNOWN", "One before this one may be missing; send both", SOON);
      }
    }
    this.#last = number;
  }

  /** Notes that a transaction was refused: it comes again, and nothing before it. */
  refused(id: string): void {
    this.#refused = { id, at: this.#clock.now() };
  }

  #answered(wasGood: boolean): void {
    const ms = wasGood ? 0 : Math.min(Math.max(FIRST_PAUSE, 2 * this.#pause.ms), LONGEST_PAUSE);
    [this.#question, this.#pause] = [undefined, { ...this.#pause, ms }];
  }

  #noteLeftOut(number: number): void {
    const length = number - this.#last - 1;
    if (!(length > 0 && length <= MAX_LEFT_OUT)) return;
    const found = Array.from({ length }, (_, index) => String(this.#last + 1 + index));
    this.#leftOut = [...this.#leftOut, ...found].slice(-MAX_LEFT_OUT);
  }

  #isTimeToLook(): boolean {
    return this.#leftOut.length > 0 && !this.#isWithin(this.#pause.ms, this.#pause.since);
  }

  /** Whether processes have kept all that was left out here. */
  async #hasAllLeftOut(): Promise<boolean> {
    if (!await this.#inbox.hasAll(this.#leftOut)) return false;
    this.#leftOut = [];
    return true;
  }

  #isWithin(ms: number, since: number): boolean {
    return elapsed(this.#clock.now(), since) < ms;
  }
}

function numberOf(id: string): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : NaN;
}
