/**
 * The time that a run has: it ends with the bot, or when the run has taken too long.
 *
 * @module
 */

/** The time of a run. Its signal is made when somebody asks for it: most runs are short. */
export class RunTime {
  readonly #bot: AbortSignal;
  #late: AbortController | undefined;
  #whenOver: ((reason: Error) => void) | undefined;
  /** What is done in it, for the log; undefined: no function has been called yet. */
  what: Readonly<Record<string, unknown>> | undefined;
  /** Why the run has taken too long; undefined: it has not. */
  #reason: Error | undefined;

  /** @param bot Ends with the bot. */
  constructor(bot: AbortSignal) {
    this.#bot = bot;
  }

  /** Has something called when the run has taken too long, in place of what was to be called before. */
  whenOver(call: (reason: Error) => void): void {
    if (this.#reason === undefined) this.#whenOver = call;
    else call(this.#reason);
  }

  /** Ends with the time. */
  get signal(): AbortSignal {
    if (this.#late === undefined) {
      this.#late = new AbortController();
      if (this.#reason !== undefined) this.#late.abort(this.#reason);
    }
    return AbortSignal.any([this.#bot, this.#late.signal]);
  }

  /** Whether the run has taken too long. */
  get isOver(): boolean {
    return this.#reason !== undefined;
  }

  /** Ends the time of the run. */
  end(reason: Error): void {
    this.#reason = reason;
    this.#late?.abort(reason);
    this.#whenOver?.(reason);
  }

  /** @throws Why the time is over, if it is. */
  check(): void {
    this.#bot.throwIfAborted();
    if (this.#reason !== undefined) throw this.#reason;
  }
}
