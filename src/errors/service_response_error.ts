/**
 * The error for an answer that is not what the specification promises.
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * The homeserver answered, but not as the Matrix specification says: a promised field is missing or
 * of another type, the body is no JSON, too large, or a redirect that can't be followed.
 */
export class ServiceResponseError extends MatrixError {
  /** Always `SERVICE_RESPONSE_ERROR`. */
  override readonly code = "SERVICE_RESPONSE_ERROR";
}

/**
 * The homeserver's address sends a request elsewhere that can't go there: one that changes
 * something, or that needs the token.
 */
export class RedirectError extends ServiceResponseError {
  /** Where to, as far as `baseUrl` can be that, with a path in front of the request's; undefined if it can't. */
  readonly origin: string | undefined;

  /**
   * Makes an error.
   *
   * @param request Names the request.
   * @param target Where it was sent, as {@link RedirectError.origin} says.
   */
  constructor(request: string, target?: string) {
    const isUsable = target !== undefined && /^https?:/.test(target);
    const where = isUsable ? ` to ${target}` : "";
    super(`Cannot ${request}: the homeserver redirects it${where}; set baseUrl to its real address`);
    this.origin = isUsable ? target : undefined;
  }
}

/**
 * What answers at `baseUrl` is no Matrix homeserver, or sends requests elsewhere. Only a client
 * that no homeserver has answered yet comes to this end: what stands in front of one may answer for
 * it for a while.
 */
export class HomeserverAddressError extends MatrixError {
  /** Always `HOMESERVER_ADDRESS`. */
  override readonly code = "HOMESERVER_ADDRESS";
}
