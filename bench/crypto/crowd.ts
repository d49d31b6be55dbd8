/**
 * A crowd: users with ten devices each, whose keys are real and signed, and which receive nothing.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { signableJson, withSignature } from "../../src/crypto/encoding/encoding.ts";
import type { JsonObject } from "../../src/types/json.ts";

/** Users with devices: what the server has of them. */
export interface Crowd {
  /** The devices' keys, by user and device. */
  readonly deviceKeys: Record<string, Record<string, JsonObject>>;
  /**
   * A one-time key of each device, by user, device and name of the key; it can be claimed more than
   * once.
   */
  readonly oneTimeKeys: Record<string, Record<string, Record<string, JsonObject>>>;
}

const DEVICES_A_USER = 10;

/** Makes a crowd. */
export async function makeCrowd(devices: number): Promise<Crowd> {
  const { olm } = await Vodozemac.load();
  const crowd: Crowd = { deviceKeys: {}, oneTimeKeys: {} };
  for (let index = 0; index < devices; index++) {
    const userId = `@user${Math.floor(index / DEVICES_A_USER)}:example.org`;
    const deviceId = `DEVICE${index}`;
    using account = olm.createAccount();
    const keyId = `ed25519:${deviceId}`;
    const signed = (object: JsonObject) =>
      withSignature(object, { userId, keyId, signature: account.sign(signableJson(object)) });
    (crowd.deviceKeys[userId] ??= {})[deviceId] = signed({
      user_id: userId,
      device_id: deviceId,
      algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
      keys: { [`curve25519:${deviceId}`]: account.curve25519Key, [keyId]: account.ed25519Key },
    });
    account.generateOneTimeKeys(1);
    (crowd.oneTimeKeys[userId] ??= {})[deviceId] = Object.fromEntries(
      account.oneTimeKeys().map(({ keyId: name, key }) => [`signed_curve25519:${name}`, signed({ key })]),
    );
  }
  return crowd;
}

/** Reads the crowd that the bench has made. */
export async function readCrowd(path: string): Promise<Crowd> {
  return JSON.parse(await Deno.readTextFile(path)); // written by makeCrowd
}
