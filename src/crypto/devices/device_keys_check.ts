/**
 * Checks keys: those of devices, as a server shows them or a sender includes them in
 * a message, and cross-signing keys.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#device-keys | Device keys}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#cross-signing | Cross-signing}
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { RecentMap } from "../../base/recent_map.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import { isOpaqueId } from "../../types/identifiers.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { isKey, sameKey, unpadded } from "../../types/base64.ts";
import { verifySignedJson } from "../encoding/encoding.ts";

const MAX_ALGORITHMS = 32;
const MAX_TEXT = 255;
/** Limits of a device's description of itself, in bytes: a user may have a thousand devices. */
const MAX_NAME_BYTES = 255;
const MAX_ALGORITHM_BYTES = 512;

const encoder = new TextEncoder();

export interface ExpectedDevice {
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  /** The user's self-signing key, to look for its signature; undefined if there is none. */
  readonly selfSigning?: string;
}

/** The two keys of a device, in unpadded base64. */
export interface IdentityKeys {
  /** Its identity key. */
  readonly curve25519: string;
  /** Its signing key. */
  readonly ed25519: string;
}

/**
 * Reads which keys an object claims for a device. No signature has been looked at.
 *
 * @param value The device's keys as they were parsed.
 * @param expected The expected device.
 * @returns The keys; `keyless` if the device has none of them; `malformed` if it is about something
 *   else.
 */
export function claimedKeys(
  value: unknown,
  { userId, deviceId }: ExpectedDevice,
): IdentityKeys | "keyless" | "malformed" {
  if (!isJsonObject(value) || value.user_id !== userId || value.device_id !== deviceId) return "malformed";
  if (!isOpaqueId(deviceId) || !isJsonObject(value.keys)) return "malformed";
  const curve25519 = value.keys[`curve25519:${deviceId}`];
  const ed25519 = value.keys[`ed25519:${deviceId}`];
  if (curve25519 === undefined && ed25519 === undefined) return "keyless";
  if (!isKey(curve25519) || !isKey(ed25519)) return "malformed";
  return { curve25519: unpadded(curve25519), ed25519: unpadded(ed25519) };
}

/**
 * Checks the keys of a device: they are its own, and it has signed them itself.
 *
 * Of the names of its algorithms 32 are kept at most, in 512 bytes, and of its own name 255 bytes.
 *
 * @param vodozemac Verifies.
 * @param value The device's keys as they were parsed.
 * @param expected The expected device.
 * @returns The device; undefined if its keys are not to be used.
 */
export function checkDeviceKeys(
  vodozemac: Vodozemac,
  value: unknown,
  expected: ExpectedDevice,
): StoredDevice | undefined {
  const { userId, deviceId, selfSigning } = expected;
  const keys = claimedKeys(value, expected);
  if (typeof keys === "string" || !isJsonObject(value) || !Array.isArray(value.algorithms)) return undefined;
  const selfSigned = { userId, keyId: `ed25519:${deviceId}`, publicKey: keys.ed25519 };
  if (!verifySignedJson(vodozemac, value, selfSigned)) return undefined;
  const crossSigned = selfSigning !== undefined &&
    verifySignedJson(vodozemac, value, {
      userId,
      keyId: `ed25519:${selfSigning}`,
      publicKey: selfSigning,
    });
  return {
    deviceId,
    ...keys,
    algorithms: algorithmsIn(value.algorithms),
    displayName: displayNameOf(value),
    dehydrated: value.dehydrated === true,
    signedBy: crossSigned ? selfSigning : undefined,
  };
}

/** The first ones, as long as there is room. */
function algorithmsIn(names: readonly unknown[]): readonly string[] {
  const kept: string[] = [];
  let left = MAX_ALGORITHM_BYTES;
  for (const name of names) {
    if (typeof name !== "string" || name.length > MAX_TEXT) continue;
    left -= encoder.encode(name).length;
    if (left < 0 || kept.push(name) === MAX_ALGORITHMS) break;
  }
  return kept;
}

function displayNameOf({ unsigned }: JsonObject): string | undefined {
  const name = isJsonObject(unsigned) ? unsigned.device_display_name : undefined;
  if (typeof name !== "string") return undefined;
  const { read } = encoder.encodeInto(name, new Uint8Array(MAX_NAME_BYTES));
  return name.slice(0, read).toWellFormed();
}

/** How many signatures in the user's name are looked at: one, or two where a key has replaced another. */
const MAX_SIGNERS = 4;

/**
 * What shows that a user vouches for a device: the keys that have signed the device's keys in the user's
 * name. The device brings these keys along, and anybody can make such keys: that they have signed says
 * nothing before the user's identity has one of them.
 *
 * @param vodozemac Verifies.
 * @param keys The keys of the device, which are its own and signed by it.
 * @returns Undefined if nobody else has signed them, or the device must not send anything.
 */
export function credentialsIn(vodozemac: Vodozemac, keys: DeviceKeys): Credentials | undefined {
  const { user_id: userId, device_id: deviceId, dehydrated } = keys;
  // In signatures, a device that is called like a cross-signing key could pass for the user.
  if (dehydrated === true || isKey(deviceId)) return undefined;
  const named = Object.keys(keys.signatures[userId] ?? {}).flatMap((keyId) => {
    const [algorithm, publicKey, ...more] = keyId.split(":");
    return algorithm === "ed25519" && isKey(publicKey) && more.length === 0 ? unpadded(publicKey) : [];
  });
  const signedBy = named.slice(0, MAX_SIGNERS).filter((publicKey) =>
    verifySignedJson(vodozemac, { ...keys }, { userId, keyId: `ed25519:${publicKey}`, publicKey })
  );
  const ed25519 = unpadded(keys.keys[`ed25519:${deviceId}`] ?? "");
  return signedBy.length === 0 ? undefined : { deviceId, ed25519, signedBy };
}

/** Of how many devices it is remembered that their signature was good. */
const MAX_VERIFIED = 1_024;
/** Longer keys are verified each time. */
const MAX_VERIFIED_LENGTH = 4_096;

export interface ExpectedSender {
  /** The sender of the message. */
  readonly userId: string;
  /** The identity key of the channel that it came over. */
  readonly curve25519: string;
  /** The signing key that it claims. */
  readonly ed25519: string;
}

/**
 * Checks the device keys that senders include in encrypted messages. They are the same in each
 * message, so that a signature is verified once.
 */
export class SenderDeviceKeys {
  readonly #vodozemac: () => Vodozemac;
  /** The keys whose signature was good, by identity key. */
  readonly #verified = new RecentMap<string, string>(MAX_VERIFIED);

  /** @param vodozemac Gives the primitives. */
  constructor(vodozemac: () => Vodozemac) {
    this.#vodozemac = vodozemac;
  }

  /**
   * Checks keys: they are of the sender, belong to the channel, and their device has signed them.
   *
   * @param value What the message holds.
   * @returns The keys; undefined if they are not genuine.
   */
  check(value: unknown, { userId, curve25519, ed25519 }: ExpectedSender): DeviceKeys | undefined {
    if (!isJsonObject(value) || typeof value.device_id !== "string") return undefined;
    const deviceId = value.device_id;
    // The sender, whatever the type of IDs promises.
    const keys = claimedKeys(value, { userId: userId as DeviceKeys["user_id"], deviceId });
    if (typeof keys === "string") return undefined;
    if (!sameKey(keys.curve25519, curve25519) || !sameKey(keys.ed25519, ed25519)) return undefined;
    const text = JSON.stringify(value);
    if (this.#verified.get(curve25519) !== text) {
      const signer = { userId, keyId: `ed25519:${deviceId}`, publicKey: ed25519 };
      if (!verifySignedJson(this.#vodozemac(), value, signer)) return undefined;
      if (text.length <= MAX_VERIFIED_LENGTH) this.#verified.set(curve25519, text);
    }
    return value as unknown as DeviceKeys; // the members that count have been looked at
  }
}

/**
 * The usage of a cross-signing key: it signs the other two, the user's own devices, or other users.
 */
export type KeyUsage = "master" | "self_signing" | "user_signing";

export interface ExpectedKey {
  readonly userId: UserID;
  /** What for: this, and nothing else besides. */
  readonly usage: KeyUsage;
  /** The master key that must have signed it; undefined for a master key. */
  readonly signedBy?: string;
}

/**
 * Reads a cross-signing key that is not checked yet.
 *
 * @param vodozemac Verifies.
 * @param value The key as it was parsed.
 * @param expected The expected key.
 * @returns The public key in unpadded base64; undefined if it is not the expected one, or has other
 *   usages as well.
 */
export function readCrossSigningKey(
  vodozemac: Vodozemac,
  value: unknown,
  { userId, usage, signedBy }: ExpectedKey,
): string | undefined {
  if (!isJsonObject(value) || value.user_id !== userId || !isJsonObject(value.keys)) return undefined;
  if (!Array.isArray(value.usage) || value.usage.length !== 1 || value.usage[0] !== usage) return undefined;
  const [entry, ...others] = Object.entries(value.keys);
  if (entry === undefined || others.length > 0) return undefined;
  const [name, key] = entry;
  if (!isKey(key) || name !== `ed25519:${key}`) return undefined;
  if (usage === "master") return unpadded(key);
  const signed = signedBy !== undefined &&
    verifySignedJson(vodozemac, value, { userId, keyId: `ed25519:${signedBy}`, publicKey: signedBy });
  return signed ? unpadded(key) : undefined;
}

/** The immutable keys of a device, and the application's decision about it. */
export interface KnownDevice {
  readonly deviceId: DeviceID;
  /** Its Curve25519 identity key, in unpadded base64. */
  readonly curve25519: string;
  /** Its Ed25519 signing key, in unpadded base64. */
  readonly ed25519: string;
  /** The application's decision; undefined: none. */
  readonly local?: LocalTrust;
  /**
   * The self-signing key whose verified signature it carries, or carried when it was last shown.
   */
  readonly signedBy?: string;
  /** The own self-signing key that has signed it here, whether or not the server shows that. */
  readonly signedHere?: string;
}

/** What a device has shown of itself with what it has sent, whether or not the server shows it. */
export interface Credentials {
  readonly deviceId: DeviceID;
  /** Its Ed25519 signing key, in unpadded base64. */
  readonly ed25519: string;
  /**
   * The keys that have signed its keys in its user's name, in unpadded base64; anybody can make such keys.
   */
  readonly signedBy: readonly string[];
}

/** A device that is there. */
export interface StoredDevice extends KnownDevice {
  /** The encryption algorithms that it supports. */
  readonly algorithms: readonly string[];
  /** The name that its user gave it. */
  readonly displayName?: string;
  /** Whether it only receives keys. */
  readonly dehydrated: boolean;
}

/** The application's own decision about a device. */
export type LocalTrust = "verified" | "blacklisted";
