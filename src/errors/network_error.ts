/**
 * The errors for a homeserver that could not be reached.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * The homeserver could not be reached, or the connection broke before the answer was whole. The
 * `cause` is what `fetch` threw, without addresses' queries and whatever else in it repeats what
 * was sent.
 *
 * Whether the server acted on the request is unknown. Requests that may be repeated have been, as
 * the retry policy says.
 *
 * Mend: Check the address and the connection, and try again.
 */
export class NetworkError extends MatrixError {
  /** `NETWORK_ERROR`, or `TIMEOUT` of {@link RequestTimeoutError}. */
  override readonly code: string = "NETWORK_ERROR";
}

/**
 * The homeserver did not answer within the request's timeout.
 *
 * Mend: Try again, or raise `requestTimeout`.
 */
export class RequestTimeoutError extends NetworkError {
  /** Always `TIMEOUT`. */
  override readonly code = "TIMEOUT";
}
