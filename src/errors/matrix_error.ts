/**
 * The root of every error Greenroom throws.
 *
 * @module
 */

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
