/**
 * Logging in and out, and refreshing tokens.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#login | Login}
 * @module
 */

import { badRequest, forbidden, invalidParam } from "../../http/failure.ts";
import { flag, optionalString, requiredString } from "../../http/read.ts";
import type { JsonObject } from "../../../types/json.ts";
import { type AuthedRequest, type MatrixRequest, requireKeys } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { openRoute, type Route, route } from "../../http/route.ts";
import type { Session } from "../../model/users/sessions.ts";
import type { ServerState } from "../../model/server_state.ts";
import { namedUser } from "../../model/users/uia_sessions.ts";
import type { User } from "../../model/users/user.ts";

/** How long a login token lives, in milliseconds. */
const LOGIN_TOKEN_LIFETIME = 300_000;

/** The routes of this file. */
export const loginRoutes: readonly Route[] = [
  openRoute("GET", "v3/login", () => ({
    flows: [{ type: "m.login.token", get_login_token: true }, { type: "m.login.password" }, {
      type: "m.login.application_service",
    }],
  })),
  openRoute("POST", "v3/login", login),
  openRoute("POST", "v3/refresh", refresh),
  route("POST", "v3/logout", logout),
  route("POST", "v3/logout/all", logoutAll),
  route("POST", "v1/login/get_token", getToken),
];

function login({ server, json, token }: MatrixRequest): Answer {
  if (json.type === undefined) throw badRequest("M_UNKNOWN", "Missing JSON keys.");
  if (typeof json.type !== "string") throw invalidParam("Bad parameter: type");
  const user = loggedIn(server, json, token);
  const device = server.addDevice(
    user,
    optionalString(json, "device_id"),
    optionalString(json, "initial_device_display_name"),
  );
  return {
    ...describeSession(server, openSession(server, user, device, json)),
    well_known: { "m.homeserver": { base_url: `${server.baseUrl}/` } },
  };
}

/**
 * Opens a session, one that can be refreshed if the body asks for it. Earlier sessions of the
 * device stay open.
 */
export function openSession(
  server: ServerState,
  user: User,
  device: Session["device"],
  body: JsonObject,
): Session {
  return server.sessions.open(user, device, { refreshable: flag(body, "refresh_token") });
}

/** The answer to login and registration. */
export function describeSession(server: ServerState, session: Session): JsonObject {
  return {
    user_id: session.user.id,
    access_token: session.token,
    home_server: server.settings.serverName,
    device_id: session.device.id,
    ...refreshPart(server, session),
  };
}

function refreshPart(server: ServerState, { refreshToken, expiresAt }: Session): JsonObject {
  if (refreshToken === undefined || expiresAt === undefined) return {};
  return { refresh_token: refreshToken, expires_in_ms: expiresAt - server.now };
}

function loggedIn(server: ServerState, json: JsonObject, token: string | undefined): User {
  if (json.type === "m.login.application_service") return server.appservices.login({ json, token });
  return json.type === "m.login.token" ? byToken(server, json) : byPassword(server, json);
}

function byPassword(server: ServerState, body: JsonObject): User {
  if (body.type === "m.login.password" && typeof body.password !== "string") {
    throw invalidParam("Bad parameter: password");
  }
  const name = namedUser(body);
  if (body.type !== "m.login.password") throw badRequest("M_UNKNOWN", `Unknown login type ${body.type}`);
  const id = name.startsWith("@") ? name : `@${name.toLowerCase()}:${server.settings.serverName}`;
  const user = [...server.users.values()].find((candidate) => candidate.id === id);
  if (user?.password === undefined || user.password !== body.password || user.deactivated) {
    throw forbidden("Invalid username or password");
  }
  return user;
}

function byToken(server: ServerState, body: JsonObject): User {
  const login = server.loginTokens.get(requiredString(body, "token"));
  if (login === undefined || login.expiresAt <= server.now) throw forbidden("Invalid login token");
  server.loginTokens.delete(requiredString(body, "token"));
  return login.user;
}

function refresh({ server, json }: MatrixRequest): Answer {
  requireKeys(json, "refresh_token");
  if (typeof json.refresh_token !== "string") throw invalidParam("Invalid param: refresh_token");
  const session = server.sessions.refresh(json.refresh_token);
  return { access_token: session.token, ...refreshPart(server, session) };
}

function logout({ server, user, device }: AuthedRequest): Answer {
  server.deleteDevice(user, device.id);
  return {};
}

function logoutAll({ server, user }: AuthedRequest): Answer {
  for (const id of [...user.devices.keys()]) server.deleteDevice(user, id);
  return {};
}

function getToken({ server, user, json: _ }: AuthedRequest): Answer {
  const token = `syl_${server.settings.ids.next("login_token", 20)}`;
  server.loginTokens.set(token, { user, expiresAt: server.now + LOGIN_TOKEN_LIFETIME });
  return { login_token: token, expires_in: LOGIN_TOKEN_LIFETIME / 1000, expires_in_ms: LOGIN_TOKEN_LIFETIME };
}
