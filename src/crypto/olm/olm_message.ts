/**
 * Encrypted messages to devices, as they are on the wire.
 *
 * @module
 */

import type { EncryptedOlmMessage } from "@greenroom/vodozemac-wasm";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { decodeBase64, isKey, unpadded } from "../encoding/base64.ts";
import type { OwnDevice } from "../engine/context.ts";
import type { OlmPeer } from "./olm_peer.ts";
import type { OlmCiphertext } from "./olm_sessions.ts";

/** How many characters a message may have: far more than any key or secret needs. */
const MAX_BODY = 131_072;

/** An encrypted message for this device. */
export interface ReceivedOlmMessage {
  /** Who says that they have sent it. */
  readonly peer: OlmPeer;
  /** The message. */
  readonly message: OlmCiphertext;
}

/** Reads an encrypted message; else why it is none for this device. */
export function readOlmMessage(
  { sender, content }: ToDeviceEvent,
  own: OwnDevice,
): ReceivedOlmMessage | string {
  if (!isJsonObject(content)) return "it has no content"; // whatever the server sends
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
    /** The message. */
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
