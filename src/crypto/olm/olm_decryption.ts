/**
 * What becomes of an encrypted message to this device.
 *
 * @module
 */

import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { UserID } from "../../types/ids.ts";
import type { Device } from "../devices/device.ts";
import type { OlmPayload } from "./olm_payload.ts";

/** What became of an encrypted message to this device. */
export type OlmDecryption =
  | {
    readonly kind: "decrypted";
    /** What the message says. */
    readonly payload: OlmPayload;
    /** Who sent it. */
    readonly sender: UserID;
    /** The Curve25519 key of the device that sent it, in unpadded base64. */
    readonly senderKey: string;
    /** The Ed25519 key of the device: proven if the device is known, else what it claims. */
    readonly senderEd25519: string;
    /** The device; undefined if it is not known yet. Then the message is an `m.room_key` or an `m.dummy`. */
    readonly device: Device | undefined;
    /** The keys that a device which is not known yet sent along: signed by itself, but by nobody else. */
    readonly claimedDevice: DeviceKeys | undefined;
    /** Whether the message started a session. */
    readonly isNewSession: boolean;
  }
  /** It is not to be used. */
  | { readonly kind: "dropped"; readonly reason: string }
  | {
    /** It can't be decrypted; if the device is known, a new session is on its way. */
    readonly kind: "failed";
    readonly reason: string;
    readonly device: Device | undefined;
  };
