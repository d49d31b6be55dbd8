/**
 * The dehydrated device of a user, as Synapse has it with `msc3814_enabled`.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import type { DeviceID } from "../../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson, badRequest, forbidden, invalidParam, missingParam, notFound } from "../../http/failure.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import type { KeptDehydratedDevice } from "../../model/users/user.ts";
import { MAX_DEVICE_NAME } from "../../model/users/device.ts";
import { addOneTimeKeys, setFallbackKeys } from "./keys_upload.ts";

const PREFIX = "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device";
/** How many messages a page has, unless the client says so. */
const PAGE = 100;

/** The routes of this file. */
export const dehydratedDeviceRoutes: readonly Route[] = [
  route("GET", PREFIX, (request) => {
    const { deviceId, data } = kept(request);
    return { device_id: deviceId, device_data: data };
  }),
  route("PUT", PREFIX, put),
  route("DELETE", PREFIX, (request) => {
    const { deviceId } = kept(request);
    request.server.deleteDevice(request.user, deviceId);
    return { device_id: deviceId };
  }),
  route("GET", `${PREFIX}/{deviceId}/events`, events),
];

function kept({ user }: AuthedRequest): KeptDehydratedDevice {
  if (user.dehydrated === undefined) throw notFound("No dehydrated device available");
  return user.dehydrated;
}

/** The one before is gone before this one is looked at any further. */
function put({ server, user, json }: AuthedRequest): Answer {
  const { deviceId, data, name } = readUpload(json);
  if (user.dehydrated !== undefined) server.deleteDevice(user, user.dehydrated.deviceId);
  if (!Object.hasOwn(json, "device_keys")) {
    throw badRequest("M_UNKNOWN", "Device key(s) not found, these must be provided.");
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
function events(request: AuthedRequest): Answer {
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
