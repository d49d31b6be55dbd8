/**
 * The root of every error Greenroom throws, the words of others in its message, and the error for calls of a
 * client that has ended.
 *
 * @module
 */

/** Control and format characters, tags, line and paragraph separators, halves of characters. */
export const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
/** Longer texts are cut off. */
const MAX_TEXT = 500;

/**
 * Others' words, made fit for a message: short, and without characters that move a terminal's
 * cursor, turn the direction of what follows, or are not shown.
 */
export function printable(text: string, maxLength: number = MAX_TEXT): string {
  return text.slice(0, maxLength).replace(UNSHOWN, " ");
}

/**
 * What all errors of Greenroom have in common: catch this to catch them all.
 *
 * Decide by class or by {@link MatrixError.code}, never by the text of the message.
 *
 * Mend: Do what the message says: it ends with what to do.
 *
 * @example
 * ```ts
 * import { MatrixError, ValueError } from "@greenroom/matrix";
 *
 * const error: MatrixError = new ValueError("Cannot send a message: the room ID is empty");
 * console.assert(error.code === "VALUE_ERROR");
 * ```
 */
export class MatrixError extends Error {
  /** The class's name, as shown in front of the message. */
  override readonly name: string;

  /** What went wrong, for programs: the server's `errcode`, or an upper-case word of ours. */
  readonly code: string = "MATRIX_ERROR";

  /**
   * Makes an error.
   *
   * @param message What was asked, of what, and what to do.
   * @param options The `cause`, if another error led to this one.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * The client was stopped, was closed, or has failed, before it could do what was asked. If it has
 * failed, the `cause` is the {@linkcode ActorError} that `client.done` rejects with.
 *
 * Mend: Make a new client with the same store; read `cause` if it has failed.
 */
export class ClientEndedError extends MatrixError {
  /** Always `CLIENT_ENDED`. */
  override readonly code = "CLIENT_ENDED";
}
