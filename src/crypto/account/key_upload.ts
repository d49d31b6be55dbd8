/**
 * The upload of the own keys.
 *
 * @module
 */

import type { Account, PublishableKey } from "@greenroom/vodozemac-wasm";
import type { DeviceKeys, KeysUploadRequest, OneTimeKeys, SignedKey } from "../../types/api/device_keys.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { JsonObject } from "../../types/json.ts";
import { signableJson, withSignature } from "../encoding/encoding.ts";
import type { OwnDevice } from "../context/context.ts";

/** The algorithm of one-time and fallback keys. */
export const SIGNED_CURVE25519 = "signed_curve25519";

/** The keys to upload. */
interface UploadParts {
  /** The device's keys, if the server does not have them. */
  readonly deviceKeys: DeviceKeys | undefined;
  /** One-time keys that the server may not have. */
  readonly oneTimeKeys: readonly PublishableKey[];
  /** The fallback key, if the server may not have it. */
  readonly fallbackKey: PublishableKey | undefined;
  /** Signs with the device's key. */
  readonly sign: (object: JsonObject) => JsonObject;
}

/**
 * The keys of a device, without signatures. The record keeps them signed: another member needs a
 * step of the schema.
 */
export function newDeviceKeys(
  { userId, deviceId, curve25519, ed25519 }: OwnDevice,
): Omit<DeviceKeys, "signatures"> {
  return {
    user_id: userId,
    device_id: deviceId,
    algorithms: [EncryptionAlgorithm.OLM_V1, EncryptionAlgorithm.MEGOLM_V1],
    keys: { [`curve25519:${deviceId}`]: curve25519, [`ed25519:${deviceId}`]: ed25519 },
  };
}

/** The key with which a user signs own devices. */
export interface SelfSigningKey {
  /** Its public half, in unpadded base64. */
  readonly publicKey: string;
  /** Signs a text; the signature in unpadded base64. */
  sign(text: string): string;
}

/** The keys of a device with its own signature, and that of a self-signing key if there is one. */
export function crossSigned(
  { signatures, ...bare }: DeviceKeys,
  key: SelfSigningKey | undefined,
): DeviceKeys {
  const { user_id: userId, device_id } = bare;
  const keyId = `ed25519:${device_id}`;
  const own = withSignature(bare, { userId, keyId, signature: signatures[userId]?.[keyId] ?? "" });
  const signed = key === undefined ? own : withSignature(own, {
    userId,
    keyId: `ed25519:${key.publicKey}`,
    signature: key.sign(signableJson({ ...bare })),
  });
  return signed as DeviceKeys; // the same members
}

/**
 * The body of an upload; undefined if there are no keys to upload. The same parts make the same
 * bytes.
 */
export function newUpload(
  { deviceKeys, oneTimeKeys, fallbackKey, sign }: UploadParts,
): KeysUploadRequest | undefined {
  const request: KeysUploadRequest = {};
  if (deviceKeys !== undefined) request.device_keys = deviceKeys;
  if (oneTimeKeys.length > 0) {
    request.one_time_keys = Object.fromEntries(oneTimeKeys.map((key) => signedKey(key, sign)));
  }
  if (fallbackKey !== undefined) {
    request.fallback_keys = Object.fromEntries([signedKey(fallbackKey, sign, { fallback: true })]);
  }
  return Object.keys(request).length === 0 ? undefined : request;
}

/** Whether two uploads bring the same one-time and fallback keys. */
export function sameKeys(one: KeysUploadRequest | undefined, other: KeysUploadRequest | undefined): boolean {
  return namesOf(one?.one_time_keys) === namesOf(other?.one_time_keys) &&
    namesOf(one?.fallback_keys) === namesOf(other?.fallback_keys);
}

/** Skips the IDs of as many one-time keys: those with them may have been handed out. */
export function skipIds(account: Account, count: number): void {
  // Not all at once: with the kept keys they stay below vodozemac's limit.
  for (let left = count; left > 0; left -= 500) {
    const { created } = account.generateOneTimeKeys(Math.min(left, 500));
    for (const key of created) account.removeOneTimeKey(key);
  }
}

function signedKey(
  { keyId, key }: PublishableKey,
  sign: UploadParts["sign"],
  more: { fallback?: true } = {},
): [string, SignedKey] {
  // The signed object has the members of the key and a signature.
  return [`${SIGNED_CURVE25519}:${keyId}`, sign({ key, ...more }) as unknown as SignedKey];
}

function namesOf(keys: OneTimeKeys | undefined): string {
  const named = Object.entries(keys ?? {}).map(([name, key]) =>
    `${name} ${typeof key === "string" ? key : key.key}`
  );
  return named.sort().join();
}
