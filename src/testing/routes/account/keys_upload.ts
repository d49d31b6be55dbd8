/**
 * Uploading device keys, one-time keys and fallback keys, as Synapse takes them: one part after the
 * other, so that what comes before a part that is refused stays.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3keysupload | Uploading keys}
 * @module
 */

import { canonicalJson } from "../../model/signed_json.ts";
import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson, badRequest, invalidParam, missingParam } from "../../http/failure.ts";
import { optionalObject } from "../../http/read.ts";
import type { Answer } from "../../http/reply.ts";
import type { AuthedRequest } from "../../http/request.ts";
import type { Device } from "../../model/users/device.ts";

/** How many one-time keys of an algorithm a device may have. */
const MAX_ONE_TIME_KEYS = 500;

/**
 * Takes an upload. Nothing of one that is malformed; of one whose one-time keys are refused, the
 * device keys.
 */
export function uploadKeys(request: AuthedRequest): Answer {
  const { server, user, device, json: body } = request;
  if (device.id === "") {
    throw badRequest("M_UNKNOWN", "To upload keys, you must pass device_id when authenticating");
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
    throw badRequest("M_UNKNOWN", `One time key ${id} already exists. Old key: ${old}; new key: ${other}`);
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
