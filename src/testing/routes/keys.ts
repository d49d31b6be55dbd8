/**
 * Device keys, one-time keys and fallback keys.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-management-api | Key management}
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type Route, route } from "../http/http.ts";
import {
  type Answer,
  badJson,
  badRequest,
  canonicalJson,
  invalidParam,
  missingParam,
  optionalObject,
  refused,
} from "../json/json.ts";
import { deviceListsSince, parseToken } from "../sync/sync.ts";
import type { Device, User } from "../users/mod.ts";

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

/** How many one-time keys of an algorithm a device may have. */
const MAX_ONE_TIME_KEYS = 500;

/**
 * Takes an upload. Nothing of one that is malformed; of one whose one-time keys are refused, the
 * device keys.
 */
function uploadKeys(request: AuthedRequest): Answer {
  const { server, user, device, json: body } = request;
  if (device.id === "") {
    throw refused("To upload keys, you must pass device_id when authenticating");
  }
  const deviceKeys = readDeviceKeys(body);
  const oneTimeKeys = readKeys(body, "one_time_keys");
  const fallbackKeys = readKeys(body, "fallback_keys");
  if (deviceKeys !== undefined && (deviceKeys.user_id !== user.id || deviceKeys.device_id !== device.id)) {
    throw badJson("device_keys must be those of the user and device of the access token");
  }
  if (deviceKeys !== undefined && canonicalJson(device.keys) !== canonicalJson(deviceKeys)) {
    device.keys = deviceKeys;
    server.announceDevices(user);
  }
  addOneTimeKeys(device, oneTimeKeys);
  setFallbackKeys(device, fallbackKeys);
  return { one_time_key_counts: Object.fromEntries(device.oneTimeKeyCounts()) };
}

function readDeviceKeys(body: JsonObject): JsonObject | undefined {
  const keys = body.device_keys;
  if (keys === undefined) return undefined;
  if (keys === null) throw invalidParam("device_keys must not be null");
  if (!isJsonObject(keys)) throw badJson("'device_keys' must be an object");
  const missing = ["algorithms", "device_id", "keys", "signatures", "user_id"].filter((name) =>
    !Object.hasOwn(keys, name)
  );
  if (missing.length === 1 && missing[0] !== undefined) throw missingParam(missing[0]);
  const isWhole = Array.isArray(keys.algorithms) && keys.algorithms.every(isString) &&
    isString(keys.device_id) && isString(keys.user_id) && isMapOf(keys.keys, isString) &&
    isMapOf(keys.signatures, isSignatures);
  if (!isWhole) throw badJson("'device_keys' must be the signed keys of a device");
  return keys;
}

function readKeys(body: JsonObject, name: string): JsonObject {
  const keys = optionalObject(body, name) ?? {};
  for (const [id, key] of Object.entries(keys)) {
    if (id.split(":").length !== 2) {
      throw badJson(`Invalid ${name} key '${id}'. Expected "<algorithm>:<device_id>".`);
    }
    const isKey = isString(key) ||
      (isJsonObject(key) && isString(key.key) && isMapOf(key.signatures, isSignatures));
    if (!isKey) throw badJson(`'${name}' must hold keys`);
  }
  return keys;
}

/** A key may be uploaded again, but not replaced: another device might be using it. */
export function addOneTimeKeys(device: Device, keys: JsonObject): void {
  const isNew = ([id, key]: [string, unknown]): boolean => {
    const known = device.oneTimeKeys.get(id);
    if (known === undefined) return true;
    if (isSameKey(known, key)) return false;
    const [old, other] = [JSON.stringify(known), JSON.stringify(key)];
    throw refused(`One time key ${id} already exists. Old key: ${old}; new key: ${other}`);
  };
  const added = Object.entries(keys).filter(isNew);
  const counts = device.oneTimeKeyCounts();
  for (const [algorithm, { length }] of Map.groupBy(added, ([id]) => algorithmOf(id))) {
    const total = (counts.get(algorithm) ?? 0) + length;
    if (total <= MAX_ONE_TIME_KEYS) continue;
    throw badRequest(
      "M_TOO_LARGE",
      `Uploading ${length} more ${algorithm} one-time keys would leave the device holding ${total}, ` +
        `over the limit of ${MAX_ONE_TIME_KEYS}`,
    );
  }
  for (const [id, key] of added) device.oneTimeKeys.set(id, key);
}

/**
 * The same key once more stays used, if it was: Synapse sees that only of one that came in
 * canonical form.
 */
export function setFallbackKeys(device: Device, keys: JsonObject): void {
  for (const [id, key] of Object.entries(keys)) {
    const algorithm = algorithmOf(id);
    if (JSON.stringify(device.fallbackKeys.get(algorithm)?.key) === canonicalJson(key)) continue;
    device.fallbackKeys.set(algorithm, { id, key, used: false });
  }
}

function algorithmOf(id: string): string {
  return id.split(":", 1)[0] ?? "";
}

/** Signatures may differ: signing twice need not give the same bytes. */
function isSameKey(a: unknown, b: unknown): boolean {
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const { signatures: _a, ...keyA } = a;
  const { signatures: _b, ...keyB } = b;
  return canonicalJson(keyA) === canonicalJson(keyB);
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isMapOf(value: unknown, is: (member: unknown) => boolean): boolean {
  return isJsonObject(value) && Object.values(value).every(is);
}

function isSignatures(value: unknown): boolean {
  return isMapOf(value, isString);
}
