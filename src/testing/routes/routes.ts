/**
 * The routing table, and what the homeserver says of itself.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#api-versions | API versions}
 * @see {@link https://spec.matrix.org/v1.16/application-service-api/#pinging | Pinging}
 *
 * @module
 */

import { type AuthedRequest, type MatrixRequest, openRoute, type Route, route } from "../http/http.ts";
import { type Answer, badRequest, Failure, forbidden, Reply } from "../json/json.ts";
import { ROOM_VERSIONS } from "../rooms/mod.ts";
import { syncRoutes } from "../sync/sync.ts";
import {
  accountRoutes,
  addressPasswordRoutes,
  addressRoutes,
  delegatedRoutes,
  passwordRoutes,
} from "./account.ts";
import { accountDataRoutes, profileRoutes } from "./profile.ts";
import { createRoomRoutes, stateRoutes } from "./rooms.ts";
import { crossSigningRoutes, roomKeyRoutes } from "./user_keys.ts";
import { deleteDevicesRoutes, deviceRoutes } from "./devices.ts";
import { directoryRoutes } from "./directory.ts";
import { historyRoutes } from "./history.ts";
import { keyRoutes } from "./keys.ts";
import { mediaRoutes } from "./media.ts";
import { oauthRoutes } from "./oauth.ts";
import { pushRuleRoutes } from "./push_rules.ts";
import { receiptRoutes } from "./receipts.ts";
import { searchRoutes } from "./search.ts";
import { sendRoutes } from "./send.ts";

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
