/**
 * Information about the homeserver: versions, capabilities and the like.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#api-versions | API versions}
 * @module
 */

import type { AuthedRequest, MatrixRequest } from "../http/request.ts";
import { type Answer, Reply } from "../http/reply.ts";
import { openRoute, type Route, route } from "../http/route.ts";
import { ROOM_VERSIONS } from "../model/rooms/room_version.ts";

/** How long an OpenID token lives, in seconds. */
const OPENID_LIFETIME = 3600;

/** The routes of this file. */
export const serverInfoRoutes: readonly Route[] = [
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
];

function discovery({ server }: MatrixRequest): Answer {
  return { "m.homeserver": { base_url: `${server.baseUrl}/` } };
}

function capabilities({ server }: AuthedRequest): Answer {
  return {
    capabilities: {
      "m.room_versions": {
        default: server.settings.defaultRoomVersion,
        available: Object.fromEntries([...ROOM_VERSIONS.keys()].map((id) => [id, "stable"])),
      },
      "m.change_password": { enabled: true },
      "m.set_displayname": { enabled: true },
      "m.set_avatar_url": { enabled: true },
      "m.3pid_changes": { enabled: true },
      "m.get_login_token": { enabled: true },
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
