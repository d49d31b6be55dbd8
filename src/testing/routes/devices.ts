/**
 * Devices, messages from one to another, and the dehydrated device, as Synapse has it with `msc3814_enabled`.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#device-management | Device management}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#send-to-device-messaging | Send-to-Device messaging}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, oncePerTransaction, requireKeys, type Route, route } from "../http/http.ts";
import {
  type Answer,
  badJson,
  badRequest,
  Failure,
  forbidden,
  invalidParam,
  missingParam,
  notFound,
  optionalObject,
  optionalString,
  optionalStrings,
  refused,
  Reply,
} from "../json/json.ts";
import { type Device, type KeptDehydratedDevice, MAX_DEVICE_NAME } from "../users/mod.ts";
import { addOneTimeKeys, setFallbackKeys } from "./keys.ts";

const DEHYDRATED = "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device";

/** The routes of this file. */
export const deviceRoutes: readonly Route[] = [
  route("GET", "v3/devices", ({ user }) => ({
    devices: [...user.devices.values()].map((device) => device.describe(user.id)),
  })),
  route("GET", "v3/devices/{deviceId}", (request) => deviceOf(request).describe(request.user.id)),
  route("PUT", "v3/devices/{deviceId}", rename),
  route("DELETE", "v3/devices/{deviceId}", remove),
  route(
    "PUT",
    "v3/sendToDevice/{eventType}/{txnId}",
    (request) => oncePerTransaction(request, () => sendToDevice(request)),
  ),
  route("GET", DEHYDRATED, (request) => {
    const { deviceId, data } = kept(request);
    return { device_id: deviceId, device_data: data };
  }),
  route("PUT", DEHYDRATED, putDehydrated),
  route("DELETE", DEHYDRATED, (request) => {
    const { deviceId } = kept(request);
    request.server.deleteDevice(request.user, deviceId);
    return { device_id: deviceId };
  }),
  route("GET", `${DEHYDRATED}/{deviceId}/events`, eventsOfDehydrated),
];

/** What only a homeserver without an authorization server has. */
export const deleteDevicesRoutes: readonly Route[] = [
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

function remove(request: AuthedRequest): void {
  const { server, user, jsonOrEmpty } = request;
  if (!isAppservice(request)) {
    if (server.oauth !== undefined) throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
    server.uia.require(jsonOrEmpty, "remove a device from your account", "m.login.password", user);
  }
  server.deleteDevice(user, request.param("deviceId"));
}

function removeSeveral(request: AuthedRequest): void {
  const { server, user, json } = request;
  requireKeys(json, "devices");
  const ids = optionalStrings(json, "devices") ?? [];
  if (!isAppservice(request)) {
    server.uia.require(json, "remove device(s) from your account", "m.login.password", user);
  }
  for (const id of ids) server.deleteDevice(user, id);
}

function sendToDevice(request: AuthedRequest): Answer {
  const { server, user: sender, json } = request;
  requireKeys(json, "messages");
  const messages = Object.entries(optionalObject(json, "messages") ?? {}).flatMap(([id, devices]) => {
    const user = server.users.get(id as UserID);
    if (user === undefined) return [];
    if (!isJsonObject(devices) || !Object.values(devices).every(isJsonObject)) {
      throw badJson("'messages' must map users to devices, and these to objects");
    }
    return [{ user, devices }];
  });
  for (const { user, devices } of messages) {
    for (const [deviceId, content] of Object.entries(devices)) {
      const targets = deviceId === "*" ? [...user.devices.values()] : [user.devices.get(deviceId)];
      for (const device of targets) {
        const event = { type: request.param("eventType"), sender: sender.id, content };
        device?.inbox.push({ position: server.stream.advance(), event });
        if (device !== undefined) server.appservices.toDevice(user, device, event);
      }
    }
    server.stream.wake([user.id]);
  }
  return {};
}

/** How many messages a page has, unless the client says so. */
const PAGE = 100;

function kept({ user }: AuthedRequest): KeptDehydratedDevice {
  if (user.dehydrated === undefined) throw notFound("No dehydrated device available");
  return user.dehydrated;
}

/** The one before is gone before this one is looked at any further. */
function putDehydrated({ server, user, json }: AuthedRequest): Answer {
  const { deviceId, data, name } = readUpload(json);
  if (user.dehydrated !== undefined) server.deleteDevice(user, user.dehydrated.deviceId);
  if (!Object.hasOwn(json, "device_keys")) {
    throw refused("Device key(s) not found, these must be provided.");
  }
  if (name !== undefined && name.length > MAX_DEVICE_NAME) {
    throw badRequest("M_TOO_LARGE", "Device display name is too long");
  }
  const device = server.addDevice(user, deviceId, name);
  user.dehydrated = { deviceId, data };
  if (isJsonObject(json.device_keys)) device.keys = json.device_keys;
  if (isJsonObject(json.one_time_keys)) addOneTimeKeys(device, json.one_time_keys);
  if (isJsonObject(json.fallback_keys)) setFallbackKeys(device, json.fallback_keys);
  return { device_id: deviceId };
}

interface Upload {
  readonly deviceId: DeviceID;
  readonly data: JsonObject;
  readonly name: string | undefined;
}

function readUpload(json: JsonObject): Upload {
  const { device_id: deviceId, device_data: data, initial_device_display_name: name } = json;
  const missing = ["device_data", "device_id", "initial_device_display_name"].filter((each) =>
    !Object.hasOwn(json, each)
  );
  if (isJsonObject(data) && !Object.hasOwn(data, "algorithm")) missing.push("algorithm");
  if (missing.length === 1) throw missingParam(missing[0] ?? "");
  const isWhole = isJsonObject(data) && typeof data.algorithm === "string" && typeof deviceId === "string" &&
    (name === null || typeof name === "string");
  if (missing.length > 0 || !isWhole) throw badJson("The body must be a dehydrated device");
  return { deviceId, data, name: name ?? undefined };
}

/** The messages stay: they go with the device. */
function eventsOfDehydrated(request: AuthedRequest): Answer {
  const { user } = request;
  const from = request.query("from") || undefined;
  const limit = request.queryInteger("limit") ?? PAGE;
  if (user.dehydrated === undefined) throw forbidden("No dehydrated device exists");
  if (user.dehydrated.deviceId !== request.param("deviceId")) {
    throw forbidden("You may only fetch messages for your dehydrated device");
  }
  if (from !== undefined && !/^d-?\d+$/.test(from)) {
    throw invalidParam(`from parameter '${from}' has an invalid format`);
  }
  const after = from === undefined ? 0 : Number(from.slice(1));
  const inbox = user.devices.get(user.dehydrated.deviceId)?.inbox ?? [];
  const page = inbox.filter(({ position }) => position > after).slice(0, limit);
  const latest = inbox.at(-1)?.position ?? 0;
  const reached = page.length === limit ? page.at(-1)?.position ?? after : latest;
  return {
    events: page.map(({ event }) => event),
    ...(reached < latest && { next_batch: `d${reached}` }),
  };
}
