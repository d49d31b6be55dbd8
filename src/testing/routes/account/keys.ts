/**
 * Device keys, one-time keys and fallback keys.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-management-api | Key management}
 * @module
 */

import type { DeviceID, UserID } from "../../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson } from "../../http/failure.ts";
import { optionalObject } from "../../http/read.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Answer } from "../../http/reply.ts";
import { type Route, route } from "../../http/route.ts";
import type { Device } from "../../model/users/device.ts";
import type { User } from "../../model/users/user.ts";
import { deviceListsSince } from "../../sync/device_lists.ts";
import { parseToken } from "../../sync/sync_token.ts";
import { uploadKeys } from "./keys_upload.ts";

/** The routes of this file. */
export const keyRoutes: readonly Route[] = [
  route("POST", "v3/keys/upload", uploadKeys),
  route("POST", "v3/keys/query", query),
  route("POST", "v3/keys/claim", claim),
  route("GET", "v3/keys/changes", changes),
];

function query(request: AuthedRequest): Answer {
  const { server, user: asker, json } = request;
  request.queryInteger("timeout");
  const asked = optionalObject(json, "device_keys");
  if (asked === undefined) throw badJson("'device_keys' must be an object");
  const device_keys: Record<string, JsonObject> = {};
  const keys: Record<string, Record<string, JsonObject>> = {
    master_keys: {},
    self_signing_keys: {},
    user_signing_keys: {},
  };
  const failures: JsonObject = {};
  for (const [id, devices] of Object.entries(asked ?? {})) {
    if (!Array.isArray(devices) || !devices.every((device) => typeof device === "string")) {
      throw badJson("'device_keys' must map users to arrays of device IDs");
    }
    if (!id.includes(":")) continue;
    const domain = id.slice(id.indexOf(":") + 1);
    if (!server.reaches(id)) {
      failures[domain] = { status: 503, message: "Not ready for retry" };
    }
    const user = server.users.get(id as UserID);
    if (user === undefined && domain === server.settings.serverName) device_keys[id] = {};
    if (user === undefined) continue;
    device_keys[id] = keysOf(user, devices);
    for (
      const [section, name] of [["master_keys", "master_key"], [
        "self_signing_keys",
        "self_signing_key",
      ]] as const
    ) {
      const key = user.crossSigning.get(name);
      if (key !== undefined) (keys[section] ??= {})[id] = signaturesFor(key, user.id, asker.id);
    }
    const userSigning = user === asker ? user.crossSigning.get("user_signing_key") : undefined;
    if (userSigning !== undefined) (keys.user_signing_keys ??= {})[id] = userSigning;
  }
  return { device_keys, failures, ...keys };
}

function keysOf(user: User, devices: readonly unknown[]): JsonObject {
  const wanted = [...user.devices.values()].filter(({ id, keys }) =>
    keys !== undefined && (devices.length === 0 || devices.includes(id))
  );
  return Object.fromEntries(wanted.map(({ id, keys, displayName }) => [id, {
    ...keys,
    unsigned: displayName === undefined ? {} : { device_display_name: displayName },
  }]));
}

/** A cross-signing key with the signatures that concern the asker: its owner's and their own. */
function signaturesFor(key: JsonObject, owner: UserID, asker: UserID): JsonObject {
  if (!isJsonObject(key.signatures)) return key;
  const signatures = Object.entries(key.signatures).filter(([signer]) =>
    signer === owner || signer === asker
  );
  return { ...key, signatures: Object.fromEntries(signatures) };
}

function claim(request: AuthedRequest): Answer {
  const { server, json } = request;
  request.queryInteger("timeout");
  const asked = optionalObject(json, "one_time_keys");
  const one_time_keys: Record<string, Record<DeviceID, JsonObject>> = {};
  const failures: JsonObject = {};
  for (const [id, devices] of Object.entries(asked ?? {})) {
    const domain = id.slice(id.indexOf(":") + 1);
    if (!server.reaches(id)) {
      failures[domain] = { status: 503, message: "Not ready for retry" };
    }
    if (!isJsonObject(devices)) throw badJson("'one_time_keys' must map users to devices");
    for (const [deviceId, algorithm] of Object.entries(devices)) {
      if (typeof algorithm === "object") throw badJson("'one_time_keys' must name algorithms");
      const device = server.users.get(id as UserID)?.devices.get(deviceId);
      const key = device === undefined ? undefined : takeKey(device, String(algorithm));
      if (key === undefined) continue;
      (one_time_keys[id] ??= {})[deviceId] = key;
    }
  }
  return { one_time_keys, failures };
}

/** A one-time key goes to one asker only; when none is left, the fallback key goes to everyone. */
function takeKey(device: Device, algorithm: string): JsonObject | undefined {
  for (const [id, key] of device.oneTimeKeys) {
    if (!id.startsWith(`${algorithm}:`)) continue;
    device.oneTimeKeys.delete(id);
    return { [id]: key };
  }
  const fallback = device.fallbackKeys.get(algorithm);
  if (fallback === undefined) return undefined;
  fallback.used = true;
  return { [fallback.id]: fallback.key };
}

function changes(request: AuthedRequest): Answer {
  const { server, user } = request;
  const from = parseToken(request.requiredQuery("from"));
  return { ...deviceListsSince(server, user, from.position) };
}
