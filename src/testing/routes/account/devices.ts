/**
 * Devices.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#device-management | Device management}
 * @module
 */

import { badRequest, notFound } from "../../http/failure.ts";
import { optionalString, optionalStrings } from "../../http/read.ts";
import { type AuthedRequest, requireKeys } from "../../http/request.ts";
import { type Answer, Reply } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import { type Device, MAX_DEVICE_NAME } from "../../model/users/device.ts";

/** The routes of this file. */
export const deviceRoutes: readonly Route[] = [
  route("GET", "v3/devices", ({ user }) => ({
    devices: [...user.devices.values()].map((device) => device.describe(user.id)),
  })),
  route("GET", "v3/devices/{deviceId}", (request) => deviceOf(request).describe(request.user.id)),
  route("PUT", "v3/devices/{deviceId}", rename),
  route("DELETE", "v3/devices/{deviceId}", remove),
  route("POST", "v3/delete_devices", removeSeveral),
];

function deviceOf(request: AuthedRequest): Device {
  const device = request.user.devices.get(request.param("deviceId"));
  if (device === undefined) throw notFound("No device found");
  return device;
}

function rename(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  const name = optionalString(json, "display_name");
  if (name !== undefined && name.length > MAX_DEVICE_NAME) {
    throw badRequest("M_TOO_LARGE", "Device display name is too long");
  }
  const isNew = isAppservice(request) && !user.devices.has(request.param("deviceId"));
  if (isNew) server.addDevice(user, request.param("deviceId"), name); // MSC4190
  else if (name !== undefined) deviceOf(request).displayName = name;
  server.announceDevices(user);
  return new Reply(isNew ? 201 : 200, {});
}

/** Application services make and delete devices of their users, and prove nothing for it. */
function isAppservice({ server, token }: AuthedRequest): boolean {
  return server.appservices.of(token) !== undefined;
}

function remove(request: AuthedRequest): Answer {
  const { server, user, jsonOrEmpty } = request;
  if (!isAppservice(request)) {
    server.uia.require(jsonOrEmpty, "remove a device from your account", "m.login.password", user);
  }
  server.deleteDevice(user, request.param("deviceId"));
  return {};
}

function removeSeveral(request: AuthedRequest): Answer {
  const { server, user, json } = request;
  requireKeys(json, "devices");
  const ids = optionalStrings(json, "devices") ?? [];
  if (!isAppservice(request)) {
    server.uia.require(json, "remove device(s) from your account", "m.login.password", user);
  }
  for (const id of ids) server.deleteDevice(user, id);
  return {};
}
