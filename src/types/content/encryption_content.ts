/**
 * Contents of encrypted events, and of the state that makes a room encrypted.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#end-to-end-encryption | End-to-end encryption}
 * @module
 */

import type { EncryptionAlgorithm, Open } from "../enums.ts";
import type { DeviceID } from "../ids.ts";
import type { RelatesTo } from "./message_content.ts";

/** Content of `m.room.encryption`. Once a room has it, it stays encrypted. */
export type RoomEncryptionContent = {
  /** What messages are encrypted with. */
  algorithm: Open<typeof EncryptionAlgorithm.MEGOLM_V1>;
  /** For how long a session is used, in milliseconds. Default: 604800000, a week. */
  rotation_period_ms?: number;
  /** For how many messages a session is used. Default: 100. */
  rotation_period_msgs?: number;
};

/** Content of `m.room.encrypted`, as a message. */
export type RoomEncryptedContent = MegolmEncryptedContent;

/** Content of `m.room.encrypted` that a device sent to a room. */
export type MegolmEncryptedContent = {
  /** What it is encrypted with. */
  algorithm: typeof EncryptionAlgorithm.MEGOLM_V1;
  /** The encrypted event, in unpadded base64. */
  ciphertext: string;
  /** The session that it is encrypted with. */
  session_id: string;
  /** The sending device's Curve25519 key; deprecated: do not trust it. */
  sender_key?: string;
  /** The sending device; deprecated: do not trust it. */
  device_id?: DeviceID;
  /** How the event relates to another, kept in clear for the server to aggregate. */
  "m.relates_to"?: RelatesTo;
};

/** Content of `m.room.encrypted` that a device sent to devices. */
export type OlmEncryptedContent = {
  /** What it is encrypted with. */
  algorithm: typeof EncryptionAlgorithm.OLM_V1;
  /** The sending device's Curve25519 key. */
  sender_key: string;
  /** The encrypted event for each receiving device, by that device's Curve25519 key. */
  ciphertext: { [recipientKey: string]: OlmCiphertext };
};

/** An Olm message. */
export interface OlmCiphertext {
  /** 0 for a message that starts a session, 1 for one within it. */
  type: 0 | 1;
  /** The message, in unpadded base64. */
  body: string;
}
