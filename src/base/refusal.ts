/**
 * An answer that refuses.
 *
 * @module
 */

/** Why a request is refused, for the one who made it: it says nothing of the bot. */
export class Refusal {
  /** The answer. */
  readonly response: Response;

  /**
   * @param status The HTTP status.
   * @param errcode The code, as the specification has it.
   * @param error What is wrong, for people.
   * @param headers Headers.
   */
  constructor(status: number, errcode: string, error: string, headers: Record<string, string> = {}) {
    this.response = Response.json({ errcode, error }, { status, headers });
  }
}
