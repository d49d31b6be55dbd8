/**
 * What application services ask of the homeserver.
 *
 * @see {@link https://spec.matrix.org/v1.16/application-service-api/#pinging | Pinging}
 * @module
 */

import { badRequest, Failure, forbidden } from "../http/failure.ts";
import type { AuthedRequest } from "../http/request.ts";
import type { Answer } from "../http/reply.ts";
import { type Route, route } from "../http/route.ts";

/** The routes of this file. */
export const appserviceRoutes: readonly Route[] = [
  route("POST", "v1/appservice/{appserviceId}/ping", ping),
];

async function ping(request: AuthedRequest): Promise<Answer> {
  const { server, token, json } = request;
  const service = server.appservices.of(token);
  if (service === undefined) {
    throw forbidden("Only application services can use the /appservice/ping endpoint");
  }
  const { id, url } = service.registration;
  if (id !== request.param("appserviceId")) throw forbidden("Mismatching application service ID in path");
  if (url === null) throw badRequest("M_URL_NOT_SET", "The application service does not have a URL set");
  const start = server.now;
  let response: Response;
  try {
    response = await service.pushing.ping({ transaction_id: json.transaction_id ?? null });
  } catch (error) {
    throw new Failure(502, "M_CONNECTION_FAILED", String(error));
  }
  const body = await response.text();
  if (!response.ok) {
    const extra = { status: response.status, body };
    throw new Failure(502, "M_BAD_STATUS", `HTTP ${response.status} ${response.statusText}`, { extra });
  }
  return { duration_ms: server.now - start };
}
