/**
 * The errors for a homeserver that could not be reached.
 *
 * @module
 */

import { MatrixError, printable } from "./matrix_error.ts";
import { missingPermission } from "./missing_permission_error.ts";

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

/** What Deno's `fetch` says in front of the reason: the address, which may hold private data. */
const NATIVE = /^error sending request .*\): (?:client error \(\w+\): )?/s;

/** What Deno's `fetch` says of a connection, and what to say in its place: with what can be done about it. */
const CLEARER: readonly (readonly [native: string, clearer: string])[] = [
  ["InvalidContentType", "what answers there does not speak TLS; is its address http://…?"],
  [
    "invalid peer certificate: UnknownIssuer",
    "invalid peer certificate: UnknownIssuer; to trust it, give the issuer's certificate by DENO_CERT=<file>, " +
    "or --cert <file>",
  ],
];

/**
 * The error for a connection that has failed, with the reason: the name is unknown, no server listens, the
 * certificate is not valid.
 *
 * @param error What `fetch` threw, or reading the answer.
 * @param request Names the request.
 * @param host Whom it went to.
 */
export function connectionFailure(error: unknown, request: string, host: string): MatrixError {
  const missing = missingPermission(error, request);
  if (missing !== undefined) return missing;
  const text = reasonOf(error);
  return new NetworkError(
    `Cannot ${request}: the connection to ${host} failed${text && `: ${printable(text, 200)}`}`,
    { cause: error },
  );
}

/** The reason in Deno's words; in those of another `fetch` without addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { message } = error.cause instanceof Error ? error.cause : error;
  const [, clearer] = CLEARER.find(([native]) => message.includes(native)) ?? [];
  return clearer ?? message.replace(NATIVE, "").replace(/\bhttps?:\/\/\S+/g, "it");
}
