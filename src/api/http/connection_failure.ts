/**
 * Why a request did not reach the homeserver, or its answer not us.
 *
 * @module
 */

import type { MatrixError } from "../../errors/matrix_error.ts";
import { missingPermission } from "../../errors/missing_permission_error.ts";
import { NetworkError } from "../../errors/network_error.ts";
import { printable } from "../../errors/printable.ts";

/** What Deno's `fetch` says in front of the reason: the address, which may hold what concerns nobody. */
const NATIVE = /^error sending request .*\): (?:client error \(\w+\): )?/s;

/**
 * Says that a connection has failed, and why: the name is not known, nobody listens, the certificate is not valid.
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
  return message.replace(NATIVE, "").replace(/\bhttps?:\/\/\S+/g, "it");
}
