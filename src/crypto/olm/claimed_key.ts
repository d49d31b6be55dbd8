/**
 * One-time keys of other devices, as a server hands them out.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { isKey } from "../encoding/base64.ts";
import type { Device } from "../devices/device.ts";
import { SIGNED_CURVE25519 } from "../account/key_upload.ts";
import type { DeviceRef } from "./olm_claims.ts";
import { verifySignedJson } from "../encoding/signed_json.ts";

/** How many servers' failures are looked at. */
const MAX_SERVERS = 10_000;

/**
 * The key of a device in the answer to a claim.
 *
 * @param vodozemac Verifies.
 * @param response The answer.
 * @param device The device, with the signing key that it had when it was first seen.
 * @returns The key; undefined if there is none that the device has signed.
 */
export function claimedKey(vodozemac: Vodozemac, response: JsonObject, device: Device): string | undefined {
  const { userId, deviceId, ed25519 } = device;
  const ofDevice = memberOf(memberOf(memberOf(response, "one_time_keys"), userId), deviceId);
  const [entry] = Object.entries(ofDevice ?? {});
  if (entry === undefined) return undefined;
  const [name, value] = entry;
  if (!name.startsWith(`${SIGNED_CURVE25519}:`) || !isJsonObject(value) || !isKey(value.key)) {
    return undefined;
  }
  const signer = { userId, keyId: `ed25519:${deviceId}`, publicKey: ed25519 };
  return verifySignedJson(vodozemac, value, signer) ? value.key : undefined;
}

/** Whether the answer to a claim says anything about a device. */
export function isAnswered(response: JsonObject, { userId, deviceId }: DeviceRef): boolean {
  return memberOf(memberOf(memberOf(response, "one_time_keys"), userId), deviceId) !== undefined;
}

/** The servers that could not be reached, of those that were asked. */
export function unreachableServers(response: JsonObject, asked: ReadonlySet<string>): string[] {
  const failures = Object.keys(memberOf(response, "failures") ?? {}).slice(0, MAX_SERVERS);
  return failures.filter((server) => asked.has(server));
}

function memberOf(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
  return isJsonObject(value) ? value : undefined;
}
