/**
 * Accounts: registration, login, refreshing tokens, password, deactivation, email addresses
 * and phone numbers. No account has any of the last two: as a Synapse by default, the
 * homeserver can't send messages to them.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#account-registration-and-management | Accounts}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#login | Login}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#adding-account-administrative-contact-information | Contact information}
 *
 * Over 300 lines because it is a list of routes.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  type MatrixRequest,
  openRoute,
  requireKeys,
  type Route,
  route,
} from "../http/http.ts";
import {
  type Answer,
  badJson,
  badRequest,
  Failure,
  flag,
  forbidden,
  invalidParam,
  isTruthy,
  missingParam,
  optionalString,
  refused,
  requiredString,
} from "../json/json.ts";
import { changeMembership, type ServerState } from "../server/mod.ts";
import { checkAuth, namedUser, type Session, type User } from "../users/mod.ts";

/** The routes of this file. */
export const accountRoutes: readonly Route[] = [
  route("GET", "v3/account/whoami", ({ user, device }) => ({
    user_id: user.id,
    is_guest: false,
    ...(device.id !== "" && { device_id: device.id }), // application services have none
  })),
];

/** What only a homeserver without an authorization server has. */
export const passwordRoutes: readonly Route[] = [
  openRoute("POST", "v3/register", register),
  openRoute("GET", "v3/register/available", available),
  openRoute("GET", "v1/register/m.login.registration_token/validity", tokenValidity),
  route("POST", "v3/account/password", changePassword),
  route("POST", "v3/account/deactivate", deactivate),
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

/** What a homeserver with an authorization server has in their place. */
export const delegatedRoutes: readonly Route[] = [openRoute("POST", "v3/register", registerDelegated)];

/** No token is one: users register without. */
function tokenValidity(request: MatrixRequest): Answer {
  if (!request.server.settings.registration) {
    throw forbidden("Registration is not enabled on this homeserver");
  }
  request.requiredQuery("token");
  return { valid: false };
}

/** The longest user name and password, in characters. */
const LONGEST_TEXT = 512;
/** The longest user ID, in characters. */
const MAX_USER_ID = 255;

function register(request: MatrixRequest): Answer {
  const { server, json, token } = request;
  checkAuth(json.auth);
  const kind = request.query("kind");
  if (kind === "guest") throw new Failure(403, "M_UNKNOWN", "Guest access is disabled");
  if (kind !== undefined && kind !== "user") throw badRequest("M_UNRECOGNIZED", `No such kind: ${kind}`);
  if (typeof (json.refresh_token ?? false) !== "boolean") {
    throw refused("Invalid refresh_token");
  }
  checkText(json.username, "username");
  if (json.type === "m.login.application_service") return registerForAppservice(request);
  if (token !== undefined) throw refused("Registering takes no access token");
  if (!server.settings.registration) throw registrationDisabled();
  if (json.password !== null) checkText(json.password, "password");
  const username = optionalString(json, "username")?.toLowerCase();
  if (username !== undefined) checkUsername(server, username);
  server.uia.require(json, "register a new account", "m.login.dummy");
  const password = optionalString(json, "password");
  if (password === undefined || password === "") throw missingParam("password");
  const user = server.addUser(username ?? nextNumber(server), password);
  if (flag(json, "inhibit_login")) return { user_id: user.id, home_server: server.settings.serverName };
  return logIn(server, user, json);
}

/** With an authorization server, only application services make users here, and no devices of theirs. */
function registerDelegated(request: MatrixRequest): Answer {
  if (request.json.type !== "m.login.application_service") throw registrationDisabled();
  if (!isTruthy(request.json.inhibit_login)) {
    const message = "This server uses OAuth2: inhibit_login must be true for registrations by appservices.";
    throw badRequest("M_APPSERVICE_LOGIN_UNSUPPORTED", message);
  }
  return { user_id: request.server.appservices.register(request).id };
}

function registrationDisabled(): Failure {
  const message =
    "Registration has been disabled. Only m.login.application_service registrations are allowed.";
  return new Failure(403, "M_FORBIDDEN", message);
}

function registerForAppservice(request: MatrixRequest): Answer {
  const { server, json } = request;
  const user = server.appservices.register(request);
  if (flag(json, "inhibit_login")) return { user_id: user.id, home_server: server.settings.serverName };
  return logIn(server, user, json);
}

function checkText(value: unknown, name: string): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value.length > LONGEST_TEXT) {
    throw refused(`Invalid ${name}`);
  }
}

function nextNumber(server: ServerState): string {
  let number = server.users.size + 1;
  while (server.users.has(`@${number}:${server.settings.serverName}`)) number++;
  return String(number);
}

/** Refuses a user name that can't be had. */
function checkUsername(server: ServerState, username: string): void {
  const id: UserID = `@${username}:${server.settings.serverName}`;
  if (!/^[a-z0-9._=\-/+]+$/.test(username) || username.startsWith("_")) {
    throw badRequest("M_INVALID_USERNAME", "User ID can only contain characters a-z, 0-9, or '=_-./+'");
  }
  if (id.length > MAX_USER_ID) {
    throw badRequest("M_INVALID_USERNAME", `User ID may not be longer than ${MAX_USER_ID} characters`);
  }
  server.appservices.checkUser(id);
  if (server.users.has(id)) throw badRequest("M_USER_IN_USE", "User ID already taken.");
  if (/^\d+$/.test(username)) {
    throw badRequest("M_INVALID_USERNAME", "Numeric user IDs are reserved for guest users.");
  }
}

function available(request: MatrixRequest): Answer {
  checkUsername(request.server, request.requiredQuery("username").toLowerCase());
  return { available: true };
}

function changePassword({ server, user, device, json }: AuthedRequest): void {
  checkAuth(json.auth);
  if (typeof json.logout_devices !== "boolean" && json.logout_devices !== undefined) {
    throw badJson("'logout_devices' must be a boolean");
  }
  const password = json.new_password;
  if (password !== undefined && password !== null) {
    if (typeof password !== "string" || password.length > LONGEST_TEXT) throw badJson("Invalid password");
  }
  server.uia.require(json, "modify your account password", "m.login.password", user);
  if (typeof password !== "string" || password === "") throw invalidParam("Invalid password");
  user.password = password;
  if (json.logout_devices !== false) {
    for (const id of [...user.devices.keys()]) if (id !== device.id) server.deleteDevice(user, id);
  }
}

function deactivate({ server, user, jsonOrEmpty }: AuthedRequest): Answer {
  server.uia.require(jsonOrEmpty, "deactivate your account", "m.login.password", user);
  user.deactivated = true;
  user.password = undefined;
  for (const id of [...user.devices.keys()]) server.deleteDevice(user, id);
  for (const id of [...user.roomsWith("join"), ...user.roomsWith("invite")]) {
    const room = server.rooms.get(id);
    if (room !== undefined) {
      changeMembership(server, room, { sender: user.id, target: user.id, action: "leave" });
    }
  }
  if (jsonOrEmpty.erase === true) {
    user.profile.clear();
    user.isErased = true;
  }
  return { id_server_unbind_result: "success" };
}

/** How long a login token lives, in milliseconds. */
const LOGIN_TOKEN_LIFETIME = 300_000;

function login({ server, json, token }: MatrixRequest): Answer {
  if (json.type === undefined) throw refused("Missing JSON keys.");
  if (typeof json.type !== "string") throw invalidParam("Bad parameter: type");
  const user = loggedIn(server, json, token);
  return {
    ...logIn(server, user, json),
    well_known: { "m.homeserver": { base_url: `${server.baseUrl}/` } },
  };
}

/**
 * Opens a session on the device that a body names, one that can be refreshed if it asks for that,
 * and says which. Earlier sessions of the device stay open.
 */
function logIn(server: ServerState, user: User, body: JsonObject): JsonObject {
  const [id, name] = ["device_id", "initial_device_display_name"].map((key) => optionalString(body, key));
  const device = server.addDevice(user, id, name);
  const session = server.sessions.open(user, device, { refreshable: flag(body, "refresh_token") });
  return {
    user_id: user.id,
    access_token: session.token,
    home_server: server.settings.serverName,
    device_id: device.id,
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
  if (body.type !== "m.login.password") throw refused(`Unknown login type ${body.type}`);
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

function logout({ server, user, device }: AuthedRequest): void {
  server.deleteDevice(user, device.id);
}

function logoutAll({ server, user }: AuthedRequest): void {
  for (const id of [...user.devices.keys()]) server.deleteDevice(user, id);
}

function getToken({ server, user, json: _ }: AuthedRequest): Answer {
  const token = `syl_${server.settings.ids.next("login_token", 20)}`;
  server.loginTokens.set(token, { user, expiresAt: server.now + LOGIN_TOKEN_LIFETIME });
  return { login_token: token, expires_in: LOGIN_TOKEN_LIFETIME / 1000, expires_in_ms: LOGIN_TOKEN_LIFETIME };
}

const NO_MEDIUM = "M_THREEPID_MEDIUM_NOT_SUPPORTED";

function addAddress({ server, user, json }: AuthedRequest): never {
  checkAuth(json.auth);
  requiredString(json, "client_secret");
  requiredString(json, "sid");
  server.uia.require(json, "add a third-party identifier to your account", "m.login.password", user);
  throw badRequest("M_THREEPID_AUTH_FAILED", "No validated 3pid session found");
}

function withoutAddress({ json }: AuthedRequest): Answer {
  requiredString(json, "medium");
  requiredString(json, "address");
  return { id_server_unbind_result: "no-support" };
}

/** The routes of this file. */
export const addressRoutes: readonly Route[] = [
  route("GET", "v3/account/3pid", () => ({ threepids: [] })),
  openRoute("POST", "v3/account/3pid/email/requestToken", () => {
    throw badRequest(NO_MEDIUM, "Adding an email to your account is disabled on this server");
  }),
  openRoute("POST", "v3/account/3pid/msisdn/requestToken", () => {
    throw badRequest(NO_MEDIUM, "Adding phone numbers to user account is not supported by this homeserver");
  }),
  route("POST", "v3/account/3pid/bind", () => {
    // As Synapse says of a server that it can't reach.
    throw new Failure(500, "M_UNKNOWN", "Internal server error");
  }),
  route("POST", "v3/account/3pid/unbind", withoutAddress),
  route("POST", "v3/account/3pid/delete", withoutAddress),
];

/** What only a homeserver without an authorization server has. */
export const addressPasswordRoutes: readonly Route[] = [route("POST", "v3/account/3pid/add", addAddress)];
