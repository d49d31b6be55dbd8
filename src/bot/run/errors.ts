/**
 * The errors of conversations.
 *
 * @module
 */

import { MatrixError, UnknownTokenError } from "../../../mod.ts";
import { ActorStoppedError, ClientEndedError } from "../../../errors.ts";

/**
 * How a conversation ended without an answer: nobody answered in time, the user did not want to go
 * on, began it anew, or the bot is not in the room any more.
 */
export type ConversationEnding = "timeout" | "cancelled" | "replaced" | "left";

const WORDS: Readonly<Record<ConversationEnding, string>> = {
  timeout: "nobody answered in time",
  cancelled: "it was cancelled",
  replaced: "it was begun anew",
  left: "the bot is not in the room any more",
};

/**
 * A conversation can't go on.
 *
 * Mend: Do what the message says; mostly, ask at another place of the function.
 */
export class ConversationError extends MatrixError {
  /** What went wrong, for programs. */
  override readonly code: string = "CONVERSATION";
}

/**
 * A question got no answer. A function that does not catch it, or throws it again, ends the
 * conversation silently: it reaches neither `bot.catch()` nor an error boundary.
 *
 * A user who says `!cancel` gets one answer: what the function says when it catches this, or `Cancelled.`
 * if it says nothing.
 *
 * Mend: Catch it if the function has something to tidy up; `reason` says how it ended.
 *
 * @example
 * ```ts
 * import { Composer, ConversationEndedError } from "@greenroom/matrix/bot";
 *
 * const plugin = new Composer();
 * plugin.command("signup", async (c) => {
 *   try {
 *     const name = await c.ask("Your name?", { timeout: 60_000 });
 *     await c.reply(`Welcome, ${name}`);
 *   } catch (error) {
 *     if (error instanceof ConversationEndedError && error.reason === "timeout") await c.send("Maybe later.");
 *     else throw error;
 *   }
 * });
 * ```
 */
export class ConversationEndedError extends ConversationError {
  /** What went wrong, for programs. */
  override readonly code: string = "CONVERSATION_ENDED";
  /** Why the conversation has ended. */
  readonly reason: ConversationEnding;

  /**
   * Says how a conversation ended.
   *
   * @param reason How it ended.
   */
  constructor(reason: ConversationEnding) {
    super(`The conversation has ended: ${WORDS[reason]}`);
    this.reason = reason;
  }
}

/** Returns whether a failure comes from the end of the client: then what was begun is begun again. */
export function isCutOff(error: unknown): boolean {
  return error instanceof ClientEndedError || error instanceof ActorStoppedError ||
    error instanceof UnknownTokenError;
}
