/**
 * The error for an answer that is not what the specification promises.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * The homeserver answered, but not as the Matrix specification says: a promised field is missing or of another type,
 * the body is no JSON, too large, or a redirect that can't be followed.
 */
export class ServiceResponseError extends MatrixError {
  /** Always `SERVICE_RESPONSE_ERROR`. */
  override readonly code = "SERVICE_RESPONSE_ERROR";
}
