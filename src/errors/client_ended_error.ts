/**
 * The error for calls of a client that has ended.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

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
