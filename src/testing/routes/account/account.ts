/**
 * Accounts: registration, who am I, password, deactivation.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#account-registration-and-management | Accounts}
 * @module
 */

import { badJson, badRequest, Failure, invalidParam, missingParam } from "../../http/failure.ts";
import { isJsonObject } from "../../../types/json.ts";
import { flag, optionalString } from "../../http/read.ts";
import type { AuthedRequest, MatrixRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { openRoute, type Route, route } from "../../http/route.ts";
import { changeMembership } from "../../model/rooms/change_membership.ts";
import type { ServerState } from "../../model/server_state.ts";
import { describeSession, openSession } from "./login.ts";

/** The routes of this file. */
export const accountRoutes: readonly Route[] = [
  openRoute("POST", "v3/register", register),
  openRoute("GET", "v3/register/available", available),
  route("GET", "v3/account/whoami", ({ user, device }) => ({
    user_id: user.id,
    is_guest: false,
    device_id: device.id,
  })),
  route("POST", "v3/account/password", changePassword),
  route("POST", "v3/account/deactivate", deactivate),
  route("GET", "v3/account/3pid", () => ({ threepids: [] })),
];

function register(request: MatrixRequest): Answer {
  const { server, json } = request;
  if (request.query("kind") === "guest") {
    throw new Failure(403, "M_UNKNOWN", "Guest access is disabled");
  }
  if (!server.settings.registration) {
    throw new Failure(
      403,
      "M_FORBIDDEN",
      "Registration has been disabled. Only m.login.application_service registrations are allowed.",
    );
  }
  if (json.auth !== undefined && json.auth !== null && !isJsonObject(json.auth)) {
    throw badJson("'auth' must be an object");
  }
  for (const name of ["password", "username"]) {
    const value = json[name];
    if (value !== undefined && typeof value !== "string") throw badRequest("M_UNKNOWN", `Invalid ${name}`);
  }
  const username = optionalString(json, "username")?.toLowerCase();
  if (username !== undefined) checkUsername(server, username);
  server.uia.require(json, "register a new account", "m.login.dummy");
  const password = optionalString(json, "password");
  if (password === undefined) throw missingParam("password");
  const user = server.addUser(username ?? nextNumber(server), password);
  if (flag(json, "inhibit_login")) return { user_id: user.id, home_server: server.settings.serverName };
  const device = server.addDevice(
    user,
    optionalString(json, "device_id"),
    optionalString(json, "initial_device_display_name"),
  );
  return describeSession(server, openSession(server, user, device, json));
}

function nextNumber(server: ServerState): string {
  let number = server.users.size + 1;
  while (server.users.has(`@${number}:${server.settings.serverName}`)) number++;
  return String(number);
}

/** Refuses a user name that can't be had. */
function checkUsername(server: ServerState, username: string): void {
  if (!/^[a-z0-9._=\-/+]+$/.test(username) || username.startsWith("_")) {
    throw badRequest("M_INVALID_USERNAME", "User ID can only contain characters a-z, 0-9, or '=_-./+'");
  }
  if (/^\d+$/.test(username)) {
    throw badRequest("M_INVALID_USERNAME", "Numeric user IDs are reserved for guest users.");
  }
  if (server.users.has(`@${username}:${server.settings.serverName}`)) {
    throw badRequest("M_USER_IN_USE", "User ID already taken.");
  }
}

function available(request: MatrixRequest): Answer {
  checkUsername(request.server, request.requiredQuery("username").toLowerCase());
  return { available: true };
}

function changePassword({ server, user, device, json }: AuthedRequest): Answer {
  server.uia.require(json, "modify your account password", "m.login.password", user);
  const password = json.new_password;
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
  for (const id of [...user.roomsWith("join"), ...user.roomsWith("invite")]) {
    const room = server.rooms.get(id);
    if (room !== undefined) {
      changeMembership(server, room, { sender: user.id, target: user.id, action: "leave" });
    }
  }
  if (jsonOrEmpty.erase === true) user.profile.clear();
  for (const id of [...user.devices.keys()]) server.deleteDevice(user, id);
  return { id_server_unbind_result: "success" };
}
