/**
 * The keys of its device that a sender puts into encrypted messages.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import { isJsonObject } from "../../types/json.ts";
import { sameKey } from "../encoding/base64.ts";
import { claimedKeys } from "./device_keys_check.ts";
import { verifySignedJson } from "../encoding/signed_json.ts";

/** Of how many devices it is remembered that their signature was good. */
const MAX_VERIFIED = 1_024;
/** How many characters of keys are remembered. */
const MAX_TEXT = 4_096;

/** Whose keys they have to be. */
export interface ExpectedSender {
  /** The user who sent the message. */
  readonly userId: string;
  /** The identity key of the channel that it came over. */
  readonly curve25519: string;
  /** The signing key that it claims. */
  readonly ed25519: string;
}

/** Checks such keys. They are the same in each message, so that a signature is verified once. */
export class SenderDeviceKeys {
  readonly #vodozemac: () => Vodozemac;
  /** By identity key, what was found good. */
  readonly #verified = new Map<string, string>();

  /** @param vodozemac Gives the primitives. */
  constructor(vodozemac: () => Vodozemac) {
    this.#vodozemac = vodozemac;
  }

  /**
   * Checks keys: they are of the sender, belong to the channel, and their device has signed them.
   *
   * @param value What the message holds.
   * @returns The keys; undefined if they are not to be believed.
   */
  check(value: unknown, { userId, curve25519, ed25519 }: ExpectedSender): DeviceKeys | undefined {
    if (!isJsonObject(value) || typeof value.device_id !== "string") return undefined;
    const deviceId = value.device_id;
    // The user is the one who sent it, whatever the type of IDs promises.
    const keys = claimedKeys(value, { userId: userId as DeviceKeys["user_id"], deviceId });
    if (typeof keys === "string") return undefined;
    if (!sameKey(keys.curve25519, curve25519) || !sameKey(keys.ed25519, ed25519)) return undefined;
    const text = JSON.stringify(value);
    if (this.#verified.get(curve25519) !== text) {
      const signer = { userId, keyId: `ed25519:${deviceId}`, publicKey: ed25519 };
      if (!verifySignedJson(this.#vodozemac(), value, signer)) return undefined;
      this.#remember(curve25519, text);
    }
    return value as unknown as DeviceKeys; // the members that count have been looked at
  }

  #remember(curve25519: string, text: string): void {
    if (text.length > MAX_TEXT) return;
    this.#verified.delete(curve25519);
    this.#verified.set(curve25519, text);
    if (this.#verified.size <= MAX_VERIFIED) return;
    for (const oldest of this.#verified.keys()) {
      this.#verified.delete(oldest);
      break;
    }
  }
}
