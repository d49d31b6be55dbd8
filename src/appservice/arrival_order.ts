/**
 * Keeps transactions in order, as far as the homeserver lets it: what comes in place of another is
 * refused, so that it is sent again after that one.
 *
 * @module
 */

import { type Clock, elapsed } from "../base/clock.ts";
import { Refusal } from "../client/serving/refusal.ts";
import type { Inbox } from "./inbox.ts";

/** How soon another transaction follows one that was refused, in milliseconds, before that comes again. */
const OVERTAKING = 2_000;
/** How many transactions a homeserver may have kept back; more are numbers that mean something else. */
const MAX_MISSED = 10;
/** When to come back, in seconds. */
const SOON = { "retry-after": "5" };

/**
 * Which transaction may come next.
 *
 * Synapse sends a transaction that has failed again, with all that were made meanwhile. One that it
 * makes in the moment in which all are sent stays there until another fails. It numbers them, so the
 * next one shows that one is missing, unless another process has kept it: it is refused, and both
 * come. The numbers of all application services of a Synapse are one sequence; where none came in
 * between, it is not looked at again.
 */
export class ArrivalOrder {
  readonly #clock: Clock;
  readonly #inbox: Pick<Inbox, "hasAll">;
  /** The transaction that was refused last, until it comes again, and when. */
  #refused: { readonly id: string; readonly at: number } | undefined;
  /** The number of the transaction that was taken last; NaN: none was, or it has no number. */
  #last = NaN;
  /** The transaction that was refused since one before it may be missing. */
  #questioned: string | undefined;
  /** Whether what is left out between two numbers may be missing. */
  #isSuspicious = true;

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
    const refused = this.#refused;
    if (refused !== undefined && number < numberOf(refused.id)) {
      this.#last = number; // it was missing
      return;
    }
    this.#refused = undefined;
    if (refused !== undefined && refused.id !== id && this.#isSoonAfter(refused.at)) {
      throw new Refusal(503, "M_UNKNOWN", "Another comes before this one", SOON);
    }
    const missed = number - this.#last - 1;
    if (this.#questioned === id) {
      this.#questioned = undefined;
      if (missed > 0) this.#isSuspicious = false; // nothing was missing
    } else if (
      this.#isSuspicious && missed > 0 && missed <= MAX_MISSED && !await this.#hasAllBefore(number)
    ) {
      this.#questioned = id;
      this.refused(id);
      throw new Refusal(503, "M_UNKNOWN", "One before this one may be missing; send both", SOON);
    }
    this.#last = number;
  }

  /** Notes that a transaction was refused: it comes again, and nothing before it. */
  refused(id: string): void {
    this.#refused = { id, at: this.#clock.now() };
  }

  /** Whether processes have kept all between the last and this one. */
  async #hasAllBefore(number: number): Promise<boolean> {
    const missed = number - this.#last - 1;
    return await this.#inbox.hasAll(Array.from({ length: missed }, (_, index) => String(number - 1 - index)));
  }

  #isSoonAfter(at: number): boolean {
    return elapsed(this.#clock.now(), at) < OVERTAKING;
  }
}

function numberOf(id: string): number {
  return /^\d{1,15}$/.test(id) ? Number(id) : NaN;
}
