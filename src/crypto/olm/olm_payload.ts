/**
 * What is inside of encrypted messages to devices.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#molmv1curve25519-aes-sha2 | m.olm.v1.curve25519-aes-sha2}
 * @module
 */

import { isShallow } from "../../types/checks/depth.ts";
import { isName } from "../../types/checks/identifiers.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { isKey, sameKey, unpadded } from "../encoding/base64.ts";
import type { OwnDevice } from "../engine/context.ts";
import type { Device } from "../devices/device.ts";
import type { OlmPeer } from "./olm_peer.ts";
import type { SenderDeviceKeys } from "../devices/sender_device_keys.ts";

/** How the keys of the sender's device were named before they were in the specification. */
const UNSTABLE_SENDER_KEYS = "org.matrix.msc4147.device_keys";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** What a message says. */
export interface OlmPayload {
  /** The type of the event. */
  readonly type: string;
  /** Its content. */
  readonly content: JsonObject;
}

/** What a message says, and who says so. */
export interface CheckedPayload {
  /** What the message says. */
  readonly payload: OlmPayload;
  /** The signing key that the sender claims: that of its device if the device is known. */
  readonly senderEd25519: string;
  /** The keys that the sender's device has signed, if it sent them along. */
  readonly deviceKeys: DeviceKeys | undefined;
}

/** What a payload is checked against. */
export interface PayloadContext {
  /** The sender, as the server says, and the key of the channel. */
  readonly peer: OlmPeer;
  /** The sender's device, if it is known. */
  readonly device: Device | undefined;
  /** The own device. */
  readonly own: OwnDevice;
  /** Checks the keys of the sender's device. */
  readonly senderKeys: SenderDeviceKeys;
}

/** Writes a payload for a device. */
export function writeOlmPayload(
  { type, content }: OlmPayload,
  { own, device, deviceKeys }: {
    readonly own: OwnDevice;
    readonly device: Device;
    /** The own device's keys, signed. */
    readonly deviceKeys: DeviceKeys;
  },
): string {
  return JSON.stringify({
    type,
    content,
    sender: own.userId,
    sender_device: own.deviceId, // of the old days: matrix-nio loses a whole sync response to an m.dummy without it
    recipient: device.userId,
    recipient_keys: { ed25519: device.ed25519 },
    keys: { ed25519: own.ed25519 },
    sender_device_keys: deviceKeys,
  });
}

/** Reads a payload and checks that it is what its sender meant for this device; else why it must not be used. */
export function readOlmPayload(
  plaintext: Uint8Array,
  { peer, device, own, senderKeys }: PayloadContext,
): CheckedPayload | string {
  const value = parse(plaintext);
  if (value === undefined) return "its plaintext is not what it must be";
  const { type, content, sender, recipient, recipient_keys: recipientKeys, keys } = value;
  if (!isName(type) || !isJsonObject(content)) return "its plaintext is not an event";
  if (type === "m.room.encrypted") return "its plaintext is encrypted again";
  if (sender !== peer.userId) return "it was written by another user than the one who sent it";
  if (recipient !== own.userId) return "it was written to another user";
  if (!isJsonObject(recipientKeys) || !sameKey(recipientKeys.ed25519, own.ed25519)) {
    return "it was written to another device";
  }
  if (!isJsonObject(keys) || !isKey(keys.ed25519)) return "it does not say which device wrote it";
  const senderEd25519 = unpadded(keys.ed25519);
  if (device !== undefined && !sameKey(senderEd25519, device.ed25519)) {
    return "it was written by another device than the one whose key it came with";
  }
  const given = value.sender_device_keys ?? value[UNSTABLE_SENDER_KEYS];
  if (given === undefined) return { payload: { type, content }, senderEd25519, deviceKeys: undefined };
  const expected = { userId: peer.userId, curve25519: peer.curve25519, ed25519: senderEd25519 };
  const deviceKeys = senderKeys.check(given, expected);
  if (deviceKeys === undefined) return "the keys of the sender's device that came with it are not its own";
  return { payload: { type, content }, senderEd25519, deviceKeys };
}

/** The JSON object that bytes are; undefined if they are none, or nested so deep that it would be trouble. */
function parse(plaintext: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(plaintext));
    return isJsonObject(value) && isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
