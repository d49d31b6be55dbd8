/**
 * A new dehydrated device: its keys, signed and encrypted, as they are uploaded.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { DehydratedDeviceUpload } from "../../types/api/dehydrated_device.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { newDeviceKeys, newUpload } from "../account/key_upload.ts";
import { OwnKeys } from "../account/own_keys.ts";
import { signableJson, withSignature } from "../encoding/signed_json.ts";
import { writeDeviceData } from "./device_data.ts";

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
