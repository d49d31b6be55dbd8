/**
 * The endpoints of the authorization server. A file of its own because they are another protocol's.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#oauth-20-api | OAuth 2.0 API}
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { type MatrixRequest, openRoute, type Route } from "../http/http.ts";
import { type Answer, Failure, Reply } from "../json/json.ts";
import { NO_STORE, type OAuthServer, readMetadata, refusal } from "../oauth/mod.ts";

/** The routes of this file. */
export const oauthRoutes: readonly Route[] = [
  openRoute("GET", "v1/auth_metadata", authMetadata),
  openRoute("GET", "unstable/org.matrix.msc2965/auth_metadata", authMetadata),
  openRoute("GET", "/.well-known/openid-configuration", (request) => serverOf(request).metadata),
  openRoute("POST", "/oauth2/registration", register),
  openRoute(
    "POST",
    "/oauth2/device",
    (request) => new Reply(200, serverOf(request).authorizeDevice(formOf(request)), NO_STORE),
  ),
  openRoute(
    "POST",
    "/oauth2/token",
    async (request) => new Reply(200, await serverOf(request).token(formOf(request)), NO_STORE),
  ),
  openRoute("POST", "/oauth2/revoke", revoke),
  openRoute("GET", "/authorize", authorize),
  openRoute("GET", "/link", () => page(200, "A test approves the code with homeserver.oauth.approve().")),
  openRoute(
    "GET",
    "/account/",
    () => page(200, "There is nothing to manage: this is a homeserver for tests."),
  ),
];

/** Where they are routed, there is an authorization server. */
function serverOf({ server: { oauth } }: MatrixRequest): OAuthServer {
  if (oauth === undefined) throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
  return oauth;
}

function authMetadata(request: MatrixRequest): Answer {
  const caching = "public, max-age=600, s-maxage=3600, stale-while-revalidate=600";
  return new Reply(200, serverOf(request).metadata, { "cache-control": caching });
}

function register(request: MatrixRequest): Answer {
  let metadata: unknown;
  try {
    metadata = JSON.parse(textOf(request));
  } catch {
    throw refusal("invalid_request", "The body must be JSON");
  }
  return new Reply(201, serverOf(request).register(readMetadata(metadata)));
}

function revoke(request: MatrixRequest): Answer {
  serverOf(request).revoke(formOf(request));
  return new Reply(200, new Uint8Array(0));
}

function authorize(request: MatrixRequest): Answer {
  try {
    const location = serverOf(request).authorize(request.raw.url);
    if (location !== undefined) return new Reply(303, new Uint8Array(0), { location });
    return page(200, "Nobody is signed in: see homeserver.oauth.browserUser and approve().");
  } catch (error) {
    if (error instanceof ValueError || error instanceof Failure) return page(400, error.message);
    throw error;
  }
}

function textOf({ raw }: MatrixRequest): string {
  return new TextDecoder().decode(raw.body);
}

/** The parameters of a request, each of which may be there once. */
function formOf(request: MatrixRequest): URLSearchParams {
  const type = request.raw.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    throw refusal("invalid_request", "The body must be application/x-www-form-urlencoded");
  }
  const form = new URLSearchParams(textOf(request));
  const names = [...form.keys()];
  if (new Set(names).size === names.length) return form;
  throw refusal("invalid_request", "A parameter is there twice");
}

function page(status: number, text: string): Reply {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const html = `<!DOCTYPE html><html lang="en"><title>Greenroom</title><p>${escaped}</p></html>`;
  return new Reply(status, new TextEncoder().encode(html), { "content-type": "text/html; charset=utf-8" });
}
