/**
 * The routing table, what the homeserver says of itself, and the endpoints of its authorization server.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#api-versions | API versions}
 * @see {@link https://spec.matrix.org/v1.19/application-service-api/#pinging | Pinging}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#oauth-20-api | OAuth 2.0 API}
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { type AuthedRequest, type MatrixRequest, openRoute, type Route, route } from "../http/http.ts";
import { type Answer, badRequest, Failure, forbidden, Reply } from "../json/json.ts";
import { NO_STORE, type OAuthServer, readMetadata, refusal } from "../oauth/mod.ts";
import { ROOM_VERSIONS } from "../rooms/mod.ts";
import { syncRoutes } from "../sync/sync.ts";
import {
  accountRoutes,
  addressPasswordRoutes,
  addressRoutes,
  delegatedRoutes,
  passwordRoutes,
} from "./account.ts";
import { deleteDevicesRoutes, deviceRoutes } from "./devices.ts";
import { directoryRoutes } from "./directory.ts";
import { historyRoutes } from "./history.ts";
import { keyRoutes } from "./keys.ts";
import { mediaRoutes } from "./media.ts";
import { accountDataRoutes, profileRoutes } from "./profile.ts";
import { pushRuleRoutes } from "./push_rules.ts";
import { receiptRoutes } from "./receipts.ts";
import { createRoomRoutes, stateRoutes } from "./rooms.ts";
import { searchRoutes } from "./search.ts";
import { sendRoutes } from "./send.ts";
import { crossSigningRoutes, roomKeyRoutes } from "./user_keys.ts";

/** The routes of this file. */
const oauthRoutes: readonly Route[] = [
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

const COMMON: readonly Route[] = [
  ...accountDataRoutes,
  ...accountRoutes,
  ...addressRoutes,
  ...createRoomRoutes,
  ...crossSigningRoutes,
  ...deviceRoutes,
  ...directoryRoutes,
  ...historyRoutes,
  ...keyRoutes,
  ...mediaRoutes,
  ...profileRoutes,
  ...pushRuleRoutes,
  ...receiptRoutes,
  ...roomKeyRoutes,
  ...searchRoutes,
  ...sendRoutes,
  ...stateRoutes,
  ...syncRoutes,
  openRoute("GET", "/_matrix/client/versions", ({ server: { settings } }) => ({
    versions: settings.versions,
    unstable_features: settings.unstableFeatures,
  })),
  openRoute("GET", "/.well-known/matrix/client", discovery),
  route("GET", "v3/capabilities", capabilities),
  route("GET", "v3/voip/turnServer", ({ server }) => ({ ...server.settings.turnServer })),
  route("POST", "v3/user/{userId}/openid/request_token", openId),
  route("GET", "v3/thirdparty/protocols", () => ({})),
  // Synapse gives no errcode here.
  route("GET", "v3/thirdparty/protocol/{protocol}", () => new Reply(404, { error: "Unknown protocol" })),
  route("GET", "v3/thirdparty/location", () => []),
  route("GET", "v3/thirdparty/location/{protocol}", () => []),
  route("GET", "v3/thirdparty/user", () => []),
  route("GET", "v3/thirdparty/user/{protocol}", () => []),
  route("POST", "v1/appservice/{appserviceId}/ping", ping),
];

/** All endpoints of the in-process homeserver. */
export const ALL_ROUTES: readonly Route[] = [
  ...COMMON,
  ...passwordRoutes,
  ...addressPasswordRoutes,
  ...deleteDevicesRoutes,
];

/** All endpoints of one whose users log in at an authorization server. */
export const OAUTH_ROUTES: readonly Route[] = [...COMMON, ...delegatedRoutes, ...oauthRoutes];

/** How long an OpenID token lives, in seconds. */
const OPENID_LIFETIME = 3600;

function discovery({ server }: MatrixRequest): Answer {
  const { oauth } = server;
  return {
    "m.homeserver": { base_url: `${server.baseUrl}/` },
    ...(oauth !== undefined && {
      "org.matrix.msc2965.authentication": { issuer: oauth.issuer, account: oauth.accountUrl },
    }),
  };
}

function capabilities({ server }: AuthedRequest): Answer {
  const hasPasswords = server.oauth === undefined;
  return {
    capabilities: {
      "m.room_versions": {
        default: server.settings.defaultRoomVersion,
        available: Object.fromEntries([...ROOM_VERSIONS.keys()].map((id) => [id, "stable"])),
      },
      "m.change_password": { enabled: hasPasswords },
      "m.set_displayname": { enabled: true },
      "m.set_avatar_url": { enabled: true },
      "m.3pid_changes": { enabled: hasPasswords },
      "m.get_login_token": { enabled: hasPasswords },
      "m.profile_fields": { enabled: true },
    },
  };
}

function openId(request: AuthedRequest): Answer {
  request.requireSelf("Cannot request tokens for other users.");
  void request.json; // whatever it says
  const { ids, serverName } = request.server.settings;
  return {
    access_token: ids.next("openid_token", 24),
    token_type: "Bearer",
    matrix_server_name: serverName,
    expires_in: OPENID_LIFETIME,
  };
}

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
