/**
 * The error for content that is not what its type says.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/** What makes a {@linkcode MalformedContentError}. */
export interface MalformedContentErrorInit extends ErrorOptions {
  /** Whose content does not fit, like `m.room.topic`. */
  readonly eventType: string;
  /** The members at fault. */
  readonly members: readonly string[];
}

/**
 * The content of an event that was sent or stored does not fit its type. The message names the
 * members at fault and what they are not; it has no values.
 *
 * Mend: Correct the members that the message names.
 */
export class MalformedContentError extends MatrixError {
  /** Always `MALFORMED_CONTENT`. */
  override readonly code = "MALFORMED_CONTENT";
  /** The type of the event, as the sender wrote it. */
  readonly eventType: string;
  /**
   * The members at fault, at most eleven, as paths with dots: `info.h`. In place of an item of a
   * list or an entry of a map stands `*`; the empty path is the whole content. For a type of your
   * own, as its schema names them.
   */
  readonly members: readonly string[];

  /**
   * Makes an error.
   *
   * @param message What is wrong.
   * @param init The event's type, the members at fault, and the `cause`, if another error led to
   *   this one.
   */
  constructor(message: string, { eventType, members, ...options }: MalformedContentErrorInit) {
    super(message, options);
    this.eventType = eventType;
    this.members = members;
  }
}
