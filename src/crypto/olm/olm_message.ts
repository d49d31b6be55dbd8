/**
 * Encrypted messages to devices: their form on the wire, their payload, and the result of
 * decrypting one; and which devices may send what.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#molmv1curve25519-aes-sha2 | m.olm.v1.curve25519-aes-sha2}
 * @module
 */

import type { EncryptedOlmMessage } from "@greenroom/vodozemac-wasm";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isName } from "../../types/identifiers.ts";
import type { UserID } from "../../types/ids.ts";
import { isJsonObject, isShallow, type JsonObject } from "../../types/json.ts";
import type { CryptoDevice, KnownDevices, SenderDeviceKeys } from "../devices/mod.ts";
import { decodeBase64, isKey, sameKey, unpadded } from "../../types/base64.ts";
import type { OwnDevice } from "../context/context.ts";
import type { OlmCiphertext, OlmPeer } from "./olm_sessions.ts";
import type { Transaction } from "../records/mod.ts";

/** How many characters a message may have: far more than any key or secret needs. */
const MAX_BODY = 131_072;

/** An encrypted message for this device. */
export interface ReceivedOlmMessage {
  /** The sender that it claims. */
  readonly peer: OlmPeer;
  readonly message: OlmCiphertext;
}

/** Reads an encrypted message; returns the reason if it is none for this device. */
export function readOlmMessage(
  { sender, content }: ToDeviceEvent,
  own: OwnDevice,
): ReceivedOlmMessage | string {
  if (!isJsonObject(content)) return "it has no content"; // a server may send anything
  if (content.algorithm !== EncryptionAlgorithm.OLM_V1) return "it is not encrypted with Olm";
  const { sender_key: senderKey, ciphertext } = content;
  if (typeof sender !== "string" || !isKey(senderKey) || !isJsonObject(ciphertext)) {
    return "it is not what an encrypted message must be";
  }
  const curve25519 = unpadded(senderKey);
  if (curve25519 === own.curve25519) return "it bears the key of this device itself";
  if (!Object.hasOwn(ciphertext, own.curve25519)) return "it is encrypted for another device";
  const part = ciphertext[own.curve25519];
  if (!isJsonObject(part) || (part.type !== 0 && part.type !== 1) || typeof part.body !== "string") {
    return "its ciphertext is not what it must be";
  }
  if (part.body.length > MAX_BODY) return "it is too long";
  const body = decodeBase64(part.body);
  if (body === undefined) return "its ciphertext is not base64";
  return { peer: { userId: sender, curve25519 }, message: { type: part.type, body } };
}

/** The content of an encrypted message to a device. */
export function writeOlmMessage(
  { own, curve25519, message, id }: {
    /** The sender. */
    readonly own: OwnDevice;
    /** The key of the device that it is for. */
    readonly curve25519: string;
    readonly message: EncryptedOlmMessage;
    /** Lets the message be found in logs on its way. */
    readonly id: string;
  },
): JsonObject {
  return {
    algorithm: EncryptionAlgorithm.OLM_V1,
    sender_key: own.curve25519,
    ciphertext: { [curve25519]: { type: message.type, body: message.body } },
    "org.matrix.msgid": id,
  };
}

/** The name of the sender's device keys before they were in the specification. */
const UNSTABLE_SENDER_KEYS = "org.matrix.msc4147.device_keys";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The payload of a message. */
export interface OlmPayload {
  /** The type of the event. */
  readonly type: string;
  readonly content: JsonObject;
}

/** A payload and its sender. */
export interface CheckedPayload {
  readonly payload: OlmPayload;
  /** The signing key that the sender claims: that of its device if the device is known. */
  readonly senderEd25519: string;
  /** The keys that the sender's device has signed, if it sent them along. */
  readonly deviceKeys: DeviceKeys | undefined;
}

/** What a payload is checked against. */
export interface PayloadContext {
  /** The sender according to the server, and the key of the channel. */
  readonly peer: OlmPeer;
  /** The sender's device, if it is known. */
  readonly device: CryptoDevice | undefined;
  readonly own: OwnDevice;
  /** Checks the keys of the sender's device. */
  readonly senderKeys: SenderDeviceKeys;
}

/** Writes a payload for a device. */
export function writeOlmPayload(
  { type, content }: OlmPayload,
  { own, device, deviceKeys }: {
    readonly own: OwnDevice;
    readonly device: CryptoDevice;
    /** The own device's keys, signed. */
    readonly deviceKeys: DeviceKeys;
  },
): string {
  return JSON.stringify({
    type,
    content,
    sender: own.userId,
    // No longer specified: matrix-nio drops a sync response with an m.dummy without it.
    sender_device: own.deviceId,
    recipient: device.userId,
    recipient_keys: { ed25519: device.ed25519 },
    keys: { ed25519: own.ed25519 },
    sender_device_keys: deviceKeys,
  });
}

/**
 * Reads a payload and checks that its sender wrote it for this device; returns the reason if not.
 */
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

/** Parses a JSON object; undefined if the bytes are none, or one that is nested too deeply. */
function parse(plaintext: Uint8Array): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(plaintext));
    return isJsonObject(value) && isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The result of decrypting a message to this device. */
export type OlmDecryption =
  | {
    readonly kind: "decrypted";
    readonly payload: OlmPayload;
    readonly sender: UserID;
    /** The Curve25519 key of the device that sent it, in unpadded base64. */
    readonly senderKey: string;
    /** The Ed25519 key of the device: proven if the device is known, otherwise claimed. */
    readonly senderEd25519: string;
    /**
     * The device; undefined if it is unknown. Then the message is an `m.room_key` or an `m.dummy`.
     */
    readonly device: CryptoDevice | undefined;
    /** The keys that the device has signed itself, if it sent them along. */
    readonly deviceKeys: DeviceKeys | undefined;
    /** Whether the message started a session. */
    readonly isNewSession: boolean;
  }
  /** It must not be used. */
  | { readonly kind: "dropped"; readonly reason: string }
  | {
    /** It can't be decrypted; if the device is known, a new session is on its way. */
    readonly kind: "failed";
    readonly reason: string;
    readonly device: CryptoDevice | undefined;
  };

/**
 * The type of messages that say where shared history is, and what it was called before it was in the
 * specification.
 */
export const BUNDLE_TYPES = ["m.room_key_bundle", "io.element.msc4268.room_key_bundle"] as const;

/**
 * What an unknown device may send: the owner of a room key shows later, and a dummy has no content.
 */
const FROM_ANYBODY: ReadonlySet<string> = new Set(["m.room_key", "m.dummy"]);
/**
 * What it may send with the keys that it has signed: who invites may share no room yet, and is looked
 * up before anything is made of it.
 */
const WITH_KEYS: ReadonlySet<string> = new Set(BUNDLE_TYPES);

/** The sender of a message. */
export interface Sender {
  readonly sender: UserID;
  /** The device, if it is known. */
  readonly device: CryptoDevice | undefined;
  /** The keys that the device has signed, if it sent them along. */
  readonly deviceKeys: DeviceKeys | undefined;
  /** What it has sent. */
  readonly type: string;
}

/** Says why a message must not be used, as far as its device goes; undefined: it may. */
export async function senderRefusal(
  tx: Transaction,
  devices: Pick<KnownDevices, "device">,
  { sender, device, deviceKeys, type }: Sender,
): Promise<string | undefined> {
  if (device !== undefined) {
    if (device.isDehydrated) return "a dehydrated device must not send anything";
    if (deviceKeys === undefined || deviceKeys.device_id === device.deviceId) return undefined;
    return "it names another device than the one whose key it came with";
  }
  if (deviceKeys !== undefined) {
    const known = await devices.device(tx, sender, deviceKeys.device_id);
    if (known !== undefined) return "its device is known by other keys";
    if (WITH_KEYS.has(type)) return undefined;
  }
  return FROM_ANYBODY.has(type) ? undefined : "its device is not known";
}
