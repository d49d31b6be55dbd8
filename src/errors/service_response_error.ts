/**
 * The errors for answers that are not what the specification promises, and of server discovery.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-discovery | Server discovery}
 *
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

/**
 * The homeserver answered, but not as the Matrix specification says. A promised field is missing or of
 * another type, the body is no JSON or too large, or a redirect can't be followed.
 *
 * Mend: Check `baseUrl` and what stands in front of the homeserver, such as a proxy.
 */
export class ServiceResponseError extends MatrixError {
  /** Always `SERVICE_RESPONSE_ERROR`. */
  override readonly code = "SERVICE_RESPONSE_ERROR";
}

/**
 * The homeserver has accepted a request that changes something, such as a send, and its answer is not usable:
 * there is no event ID in it, say. What was asked for has been done, or will be: doing it again would do it
 * twice. Nothing of Greenroom does.
 *
 * Mend: Do not repeat the request.
 *
 * @example
 * ```ts
 * import { type Client } from "@greenroom/matrix";
 * import { AcceptedError } from "@greenroom/matrix/errors";
 * import type { EventID } from "@greenroom/matrix/types";
 *
 * async function send(client: Client, text: string): Promise<EventID | undefined> {
 *   try {
 *     return await client.sendText("!stage:example.org", text);
 *   } catch (error) {
 *     if (error instanceof AcceptedError) return undefined; // it is there
 *     throw error;
 *   }
 * }
 * ```
 */
export class AcceptedError extends ServiceResponseError {
  /**
   * Makes an error.
   *
   * @param cause Says what the answer lacks.
   */
  constructor(cause: ServiceResponseError) {
    super(`${cause.message}; the homeserver has accepted the request: do not repeat it`, { cause });
  }
}

/**
 * The homeserver's address sends a request elsewhere that can't go there: one that changes
 * something, or that needs the token.
 *
 * Mend: Set `baseUrl` to the real address, which the message names.
 */
export class RedirectError extends ServiceResponseError {
  /**
   * Where to, as far as `baseUrl` can be that, with a path in front of the request's; undefined if it can't.
   */
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
 * The homeserver says in `/versions` that it lacks what was asked for: a version of the specification, or a
 * feature of a proposal. Nothing was sent that it would not do, or pass over.
 *
 * Mend: Ask `client.supports()` before, or who runs the homeserver for a newer one. The message names what it
 * lacks.
 */
export class UnsupportedFeatureError extends MatrixError {
  /** Always `UNSUPPORTED_FEATURE`. */
  override readonly code = "UNSUPPORTED_FEATURE";
}

/**
 * What answers at `baseUrl` is no Matrix homeserver, or sends requests elsewhere. Only a client
 * that no homeserver has answered yet comes to this end: what stands in front of one may answer for
 * it for a while.
 *
 * Mend: Set `baseUrl` to the address of the homeserver.
 */
export class HomeserverAddressError extends MatrixError {
  /** Always `HOMESERVER_ADDRESS`. */
  override readonly code = "HOMESERVER_ADDRESS";
}

/**
 * `Client.discover()` could not find out a domain's homeserver, though the domain has a discovery
 * file.
 *
 * Mend: Correct the domain's `/.well-known/matrix/client`, or give `baseUrl`.
 */
export class WellKnownError extends MatrixError {
  /** `WELL_KNOWN_ERROR`, or a more precise word of a subclass. */
  override readonly code: string = "WELL_KNOWN_ERROR";
}

/**
 * The discovery file could not be had: the domain did not answer, or answered with another status
 * than 200 and 404.
 *
 * Mend: Try again, or give `baseUrl`.
 */
export class WellKnownUnreachableError extends WellKnownError {
  /** Always `WELL_KNOWN_UNREACHABLE`. */
  override readonly code = "WELL_KNOWN_UNREACHABLE";
}

/**
 * The discovery file is not a JSON object.
 *
 * Mend: Have the file corrected, or give `baseUrl`.
 */
export class WellKnownNotJsonError extends WellKnownError {
  /** Always `WELL_KNOWN_NOT_JSON`. */
  override readonly code = "WELL_KNOWN_NOT_JSON";
}

/**
 * The discovery file names no homeserver: `m.homeserver.base_url` is missing or no string.
 *
 * Mend: Have the file corrected, or give `baseUrl`.
 */
export class WellKnownMissingHomeserverError extends WellKnownError {
  /** Always `WELL_KNOWN_MISSING_HOMESERVER`. */
  override readonly code = "WELL_KNOWN_MISSING_HOMESERVER";
}

/**
 * The homeserver's address in the discovery file is no absolute URL.
 *
 * Mend: Have the file corrected, or give `baseUrl`.
 */
export class WellKnownNotUrlError extends WellKnownError {
  /** Always `WELL_KNOWN_NOT_URL`. */
  override readonly code = "WELL_KNOWN_NOT_URL";
}

/**
 * The homeserver's address in the discovery file is neither `https` nor `http`.
 *
 * Mend: Have the file corrected, or give `baseUrl`.
 */
export class WellKnownUnsupportedSchemeError extends WellKnownError {
  /** Always `WELL_KNOWN_UNSUPPORTED_SCHEME`. */
  override readonly code = "WELL_KNOWN_UNSUPPORTED_SCHEME";
}

/**
 * The discovery file names an identity server, but not where, or none answers there.
 *
 * Mend: Have the file corrected, or give `baseUrl`.
 */
export class WellKnownInvalidIdentityServerError extends WellKnownError {
  /** Always `WELL_KNOWN_INVALID_IDENTITY_SERVER`. */
  override readonly code = "WELL_KNOWN_INVALID_IDENTITY_SERVER";
}

/**
 * What answers at the homeserver's address is no Matrix homeserver: `/versions` failed or names no
 * version.
 *
 * Mend: Have the file corrected, or give `baseUrl`.
 */
export class WellKnownInvalidVersionsError extends WellKnownError {
  /** Always `WELL_KNOWN_INVALID_VERSIONS`. */
  override readonly code = "WELL_KNOWN_INVALID_VERSIONS";
}
