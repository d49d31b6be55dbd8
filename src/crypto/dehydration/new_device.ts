/**
 * A new dehydrated device: its keys, signed and encrypted, as they are uploaded, and the key that encrypts them.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import {
  type Account,
  type DehydratedAccount,
  type Vodozemac,
  VodozemacError,
} from "@greenroom/vodozemac-wasm";
import type { DehydratedDeviceData, DehydratedDeviceUpload } from "../../types/api/dehydrated_device.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { newDeviceKeys, newUpload, OwnKeys } from "../account/mod.ts";
import { signableJson, withSignature } from "../encoding/encoding.ts";
import { decodeBase64, encodeBase64 } from "../../types/base64.ts";

const KEY_BYTES = 32;

/** The secret that holds it in secret storage: the name that clients write, and the one to come. */
export const PICKLE_KEY_SECRETS = ["org.matrix.msc3814", "m.dehydrated_device"] as const;

/** Makes a random key. */
export function newPickleKey(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(KEY_BYTES));
}

/** Writes it as a secret. */
export function pickleKeySecret(key: Uint8Array): string {
  return encodeBase64(key);
}

/** Reads it from a secret; undefined if the secret is none. */
export function readPickleKey(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64(secret);
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

/** The name that clients write, and the one to come. */
const ALGORITHMS = ["org.matrix.msc3814.v2", "m.dehydration.v2"] as const;

/** Longer ones are not looked at: an account with all the keys it may have takes less. */
const MAX_PICKLE = 524_288;
const MAX_NONCE = 64;

/** Encrypts the private keys. */
export function writeDeviceData(account: Account, key: Uint8Array): DehydratedDeviceData {
  const { ciphertext, nonce } = account.dehydrate(key);
  return { algorithm: ALGORITHMS[0], device_pickle: ciphertext, nonce };
}

/**
 * Decrypts the private keys.
 *
 * @param data What the server shows.
 * @returns The account, which the caller disposes of; undefined if it is of another algorithm, or the
 *   key is another one, or it was changed.
 */
export function readDeviceData(
  vodozemac: Vodozemac,
  data: DehydratedDeviceData,
  key: Uint8Array,
): Account | undefined {
  const encrypted = encryptedIn(data);
  if (encrypted === undefined) return undefined;
  try {
    return vodozemac.olm.rehydrateAccount(encrypted, key);
  } catch (error) {
    if (error instanceof VodozemacError && error.code !== "instance_dead") return undefined;
    throw error;
  }
}

function encryptedIn(data: DehydratedDeviceData): DehydratedAccount | undefined {
  const { algorithm, device_pickle: ciphertext, nonce } = data;
  if (typeof ciphertext !== "string" || typeof nonce !== "string") return undefined;
  if (ciphertext.length > MAX_PICKLE || nonce.length > MAX_NONCE) return undefined;
  return ALGORITHMS.some((known) => known === algorithm) ? { ciphertext, nonce } : undefined;
}

/** What the user's other clients call it. */
const DISPLAY_NAME = "Dehydrated device";

/** What a new device needs. */
export interface NewDeviceInput {
  /** Whose it is. */
  readonly userId: UserID;
  /** The key that encrypts its private keys. */
  readonly key: Uint8Array;
  /** Signs with the own self-signing key; undefined: that is not at hand. */
  readonly crossSign: (object: JsonObject) => Promise<JsonObject | undefined>;
}

/**
 * Makes a device. Its private keys are in the result only, encrypted.
 *
 * @returns The device; undefined if it can't be signed: nobody would send anything to it.
 */
export async function newDehydratedDevice(
  { olm }: Vodozemac,
  { userId, key, crossSign }: NewDeviceInput,
): Promise<DehydratedDeviceUpload | undefined> {
  using account = olm.createAccount();
  account.generateOneTimeKeys(OwnKeys.onServer);
  account.generateFallbackKey();
  const { curve25519Key: curve25519, ed25519Key: ed25519 } = account;
  const deviceId = curve25519;
  const sign = (object: JsonObject): JsonObject => {
    const signature = account.sign(signableJson(object));
    return withSignature(object, { userId, keyId: `ed25519:${deviceId}`, signature });
  };
  const bare = newDeviceKeys({ userId, deviceId, curve25519, ed25519 });
  const signed = await crossSign(sign({ ...bare, dehydrated: true }));
  if (signed === undefined) return undefined;
  const keys = newUpload({
    deviceKeys: signed as unknown as DeviceKeys, // the same members, and signatures
    oneTimeKeys: account.oneTimeKeys(),
    fallbackKey: account.fallbackKey(),
    sign,
  });
  account.markKeysAsPublished();
  return {
    device_id: deviceId,
    device_data: writeDeviceData(account, key),
    device_keys: signed as unknown as DeviceKeys, // likewise
    initial_device_display_name: DISPLAY_NAME,
    one_time_keys: keys?.one_time_keys,
    fallback_keys: keys?.fallback_keys,
  };
}
