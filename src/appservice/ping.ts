/**
 * Asks the homeserver to ping the application service.
 *
 * @see {@link https://spec.matrix.org/v1.16/application-service-api/#pinging | Pinging}
 * @module
 */

import type { HTTPAPI } from "../api/http/mod.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { MatrixError } from "../errors/matrix_error.ts";
import { UnrecognizedError } from "../errors/request_errcodes.ts";
import type { Registration } from "./registration.ts";

/**
 * The homeserver and the application service do not find each other, or do not have the same
 * registration. Its message says what to do, its `cause` what the homeserver said.
 *
 * Mend: Compare the registration with the homeserver's, its `url` with where the application
 * service listens, and restart the homeserver.
 */
export class AppservicePingError extends MatrixError {
  /** Always `APPSERVICE_PING`. */
  override readonly code = "APPSERVICE_PING";
}

/**
 * Has the homeserver ping the application service.
 *
 * @param http The way to the homeserver, with the application service's token.
 * @param options Whom it pings.
 * @returns How long the homeserver's request took, in milliseconds; undefined if the homeserver
 *   can't be asked so.
 * @throws {AppservicePingError} If it does not get through.
 */
export async function pingAppservice(
  http: HTTPAPI,
  { id, url }: Registration,
  hasPinged: (id: string) => boolean,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const pingId = crypto.randomUUID();
  const { clock } = http;
  const start = clock.now();
  try {
    const answer = await http.request<{ duration_ms?: unknown }>(
      "POST",
      "/_matrix/client/v1/appservice/{appserviceId}/ping",
      { path: { appserviceId: id }, body: { transaction_id: pingId }, signal },
    );
    return Number(answer.duration_ms);
  } catch (error) {
    if (error instanceof UnrecognizedError) return undefined;
    if (!(error instanceof MatrixRequestError)) throw error;
    // Synapse fails after it has got through, if it was about to send a transaction again.
    if (hasPinged(pingId)) return clock.now() - start;
    const mend = mendOf(error, String(url));
    if (mend === undefined) throw error;
    throw new AppservicePingError(`Cannot reach the application service ${id}: ${mend}`, { cause: error });
  }
}

function mendOf({ code, body }: MatrixRequestError, url: string): string | undefined {
  switch (code) {
    case "M_UNKNOWN_TOKEN":
      return "the homeserver does not know its as_token; load the same registration there, and restart it";
    case "M_FORBIDDEN":
      return "its as_token belongs to another registration of the homeserver; give each its own";
    case "M_URL_NOT_SET":
      return "its registration on the homeserver has no url; set it there";
    case "M_CONNECTION_FAILED":
      return `the homeserver could not connect to ${url}; serve fetch there, where the homeserver finds it`;
    case "M_CONNECTION_TIMEOUT":
      return `nothing answered the homeserver in time at ${url}; serve fetch there`;
    case "M_BAD_STATUS":
      return body.status === 401 || body.status === 403
        ? "it refused the homeserver's hs_token; use the same registration on both sides"
        : `what answered the homeserver at ${url} said ${String(body.status)}; serve fetch there`;
    default:
      return undefined;
  }
}
