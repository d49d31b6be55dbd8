/**
 * Answers requests: finds the route, checks the token, turns what comes out or is thrown into a
 * response.
 *
 * @module
 */

import type { ServerState } from "../model/server_state.ts";
import { Failure } from "./failure.ts";
import { Reply } from "./reply.ts";
import { AuthedRequest, MatrixRequest, type RawRequest } from "./request.ts";
import type { Router } from "./router.ts";

const CORS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
  "access-control-allow-headers": "X-Requested-With, Content-Type, Authorization, Date",
};

/** Answers a request. Rejects only when the request is aborted. */
export async function serve(
  server: ServerState,
  router: Router,
  raw: RawRequest,
  onError: (error: unknown) => void,
): Promise<Response> {
  if (raw.method === "OPTIONS") return new Response(null, { status: 204, headers: CORS });
  try {
    return toResponse(await answer(server, router, raw));
  } catch (error) {
    if (error instanceof Failure) return toResponse(new Reply(error.status, error.body, error.headers));
    if (raw.signal.aborted) throw error;
    onError(error);
    return toResponse(new Reply(500, { errcode: "M_UNKNOWN", error: "Internal server error" }));
  }
}

async function answer(server: ServerState, router: Router, raw: RawRequest): Promise<Reply> {
  const { route, params } = router.match(raw.method, raw.url.pathname);
  const request = new MatrixRequest(server, raw, params);
  // The router vouches for this: what needs no token does not look at the session.
  const authed = route.authed ? authenticate(request, params) : request as AuthedRequest;
  const result = await route.handle(authed);
  return result instanceof Reply ? result : new Reply(200, result);
}

function authenticate(request: MatrixRequest, params: Readonly<Record<string, string>>): AuthedRequest {
  const { server, raw } = request;
  const session = server.appservices.session(request) ?? server.sessions.find(request.token);
  session.device.lastSeen = server.now;
  return new AuthedRequest(server, raw, params, session);
}

function toResponse({ status, body, headers }: Reply): Response {
  if (body instanceof Uint8Array) {
    const length = { "content-length": String(body.byteLength) };
    return new Response(body as Uint8Array<ArrayBuffer>, {
      status,
      headers: { ...CORS, ...length, ...headers },
    });
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...CORS, "content-type": "application/json", ...headers },
  });
}
