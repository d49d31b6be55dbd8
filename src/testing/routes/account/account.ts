/**
 * Accounts: registration, who am I, password, deactivation.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#account-registration-and-management | Accounts}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import { badJson, badRequest, Failure, invalidParam, missingParam } from "../../http/failure.ts";
import { flag, optionalString } from "../../http/read.ts";
import type { AuthedRequest, MatrixRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { openRoute, type Route, route } from "../../http/route.ts";
import { changeMembership } from "../../model/rooms/change_membership.ts";
import type { ServerState } from "../../model/server_state.ts";
import { checkAuth } from "../../model/users/uia_sessions.ts";
import { describeSession, openSession } from "./login.ts";

/** The routes of this file. */
export const accountRoutes: readonly Route[] = [
  openRoute("POST", "v3/register", register),
  openRoute("GET", "v3/register/available", available),
  route("GET", "v3/account/whoami", ({ user, device }) => ({
    user_id: user.id,
    is_guest: false,
    ...(device.id !== "" && { device_id: device.id }), // application services have none
  })),
  route("POST", "v3/account/password", changePassword),
  route("POST", "v3/account/deactivate", deactivate),
  route("GET", "v3/account/3pid", () => ({ threepids: [] })),
];

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
    throw badRequest("M_UNKNOWN", "Invalid refresh_token");
  }
  checkText(json.username, "username");
  if (json.type === "m.login.application_service") return registerForAppservice(request);
  if (token !== undefined) throw badRequest("M_UNKNOWN", "Registering takes no access token");
  if (!server.settings.registration) {
    throw new Failure(
      403,
      "M_FORBIDDEN",
      "Registration has been disabled. Only m.login.application_service registrations are allowed.",
    );
  }
  if (json.password !== null) checkText(json.password, "password");
  const username = optionalString(json, "username")?.toLowerCase();
  if (username !== undefined) checkUsername(server, username);
  server.uia.require(json, "register a new account", "m.login.dummy");
  const password = optionalString(json, "password");
  if (password === undefined || password === "") throw missingParam("password");
  const user = server.addUser(username ?? nextNumber(server), password);
  if (flag(json, "inhibit_login")) return { user_id: user.id, home_server: server.settings.serverName };
  const device = server.addDevice(
    user,
    optionalString(json, "device_id"),
    optionalString(json, "initial_device_display_name"),
  );
  return describeSession(server, openSession(server, user, device, json));
}

function registerForAppservice(request: MatrixRequest): Answer {
  const { server, json } = request;
  const user = server.appservices.register(request);
  if (flag(json, "inhibit_login")) return { user_id: user.id, home_server: server.settings.serverName };
  const device = server.addDevice(
    user,
    optionalString(json, "device_id"),
    optionalString(json, "initial_device_display_name"),
  );
  return describeSession(server, openSession(server, user, device, json));
}

function checkText(value: unknown, name: string): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value.length > LONGEST_TEXT) {
    throw badRequest("M_UNKNOWN", `Invalid ${name}`);
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

function changePassword({ server, user, device, json }: AuthedRequest): Answer {
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
  return {};
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
