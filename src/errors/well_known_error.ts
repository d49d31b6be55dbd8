/**
 * The errors of server discovery.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#server-discovery | Server discovery}
 * @module
 */

import { MatrixError } from "./matrix_error.ts";

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
export class WellKnownNotJSONError extends WellKnownError {
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
export class WellKnownNotURLError extends WellKnownError {
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
