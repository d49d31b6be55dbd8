/**
 * Contents of encrypted events, of the state that makes a room encrypted, and of verifications. Those come
 * also from a device that is not trusted enough for anything else. They travel to devices, with a
 * `transaction_id`, or through a room, with an `m.relates_to` that refers to the request.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#end-to-end-encryption | End-to-end encryption}
 *
 * @module
 */

import type { EncryptionAlgorithm, Open } from "../enums.ts";
import type { DeviceID, EventID, RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { RelatesTo, VerificationRelatesTo } from "./message_content.ts";

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

/** What ties the events of one verification together. */
export type BaseVerificationContent = {
  /** To a device: the verification. */
  transaction_id?: string;
  /** In a room: the request that started the verification. */
  "m.relates_to"?: VerificationRelatesTo;
};

/** How two devices are verified: by emoji, or by a QR code. */
export type VerificationMethod = Open<
  | "m.sas.v1"
  | "m.reciprocate.v1"
  | "m.qr_code.show.v1"
  | "m.qr_code.scan.v1"
>;

/** How a short authentication string is shown. */
export type ShortAuthenticationStringMethod = Open<"decimal" | "emoji">;

/** Content of `m.key.verification.request`, to a device; in a room it is a message. */
export type VerificationRequestContent = {
  /** The device that asks. */
  from_device: DeviceID;
  /** What the device supports. */
  methods: VerificationMethod[];
  /** The verification. */
  transaction_id?: string;
  /**
   * When the device asked, in milliseconds since the epoch. To be ignored if over 10 minutes old or
   * 5 ahead.
   */
  timestamp?: number;
};

/** Content of `m.key.verification.ready`. */
export type VerificationReadyContent = BaseVerificationContent & {
  /** The device that accepts. */
  from_device: DeviceID;
  /** What the device supports, of what was asked for. */
  methods: VerificationMethod[];
};

/** Content of `m.key.verification.start`: a union over `method`. */
export type VerificationStartContent = SasStartContent | ReciprocateStartContent;

/** Content of `m.key.verification.start` to compare short strings. */
export type SasStartContent = BaseVerificationContent & {
  method: "m.sas.v1";
  /** The device that starts. */
  from_device: DeviceID;
  /** The key agreement protocols that the device supports, such as `curve25519-hkdf-sha256`. */
  key_agreement_protocols: string[];
  /** The hashes that the device supports, `sha256` among them. */
  hashes: string[];
  /**
   * The ways to authenticate a message that the device supports, `hkdf-hmac-sha256.v2` among them.
   */
  message_authentication_codes: string[];
  /** The ways to show the string that the device supports, `decimal` among them. */
  short_authentication_string: ShortAuthenticationStringMethod[];
};

/** Content of `m.key.verification.start` after a QR code was scanned. */
export type ReciprocateStartContent = BaseVerificationContent & {
  method: "m.reciprocate.v1";
  /** The device that starts. */
  from_device: DeviceID;
  /** The secret of the QR code, in unpadded base64. */
  secret: string;
};

/** Content of `m.key.verification.accept`: what both devices will use to compare short strings. */
export type VerificationAcceptContent = BaseVerificationContent & {
  /** The method, if the device says it: newer ones do not. */
  method?: "m.sas.v1";
  key_agreement_protocol: string;
  hash: string;
  /** The way to authenticate a message. */
  message_authentication_code: string;
  /** The ways to show the string that both devices know. */
  short_authentication_string: ShortAuthenticationStringMethod[];
  /** The hash of the device's ephemeral key and the start's content, in unpadded base64. */
  commitment: string;
};

/** Content of `m.key.verification.key`. */
export type VerificationKeyContent = BaseVerificationContent & {
  /** The device's ephemeral public key, in unpadded base64. */
  key: string;
};

/** Content of `m.key.verification.mac`. */
export type VerificationMacContent = BaseVerificationContent & {
  /** The MACs of the device's keys by key ID, in unpadded base64. */
  mac: { [keyId: string]: string };
  /** The MAC of the sorted key IDs with commas between them, in unpadded base64. */
  keys: string;
};

/** Content of `m.key.verification.done`. */
export type VerificationDoneContent = BaseVerificationContent;

/** Why a verification is called off. */
export type VerificationCancelCode = Open<
  | "m.accepted"
  | "m.invalid_message"
  | "m.key_mismatch"
  | "m.mismatched_commitment"
  | "m.mismatched_sas"
  | "m.timeout"
  | "m.unexpected_message"
  | "m.unknown_method"
  | "m.unknown_transaction"
  | "m.user"
  | "m.user_mismatch"
>;

/** Content of `m.key.verification.cancel`. */
export type VerificationCancelContent = BaseVerificationContent & {
  /** Why, for programs. */
  code: VerificationCancelCode;
  /** Why, in words; to be used only if the code is unknown. */
  reason: string;
};

/** What the types of all verification events begin with. */
export const VERIFICATION_PREFIX = "m.key.verification.";

/** The message type of a request in a room. */
export const REQUEST_TYPE = "m.key.verification.request";

/** An event of a verification: plain data. */
export interface VerificationEvent {
  readonly type: string;
  /** Who has sent it, as the server says. */
  readonly sender: UserID;
  /** Which device has sent it, if it came encrypted and the device is known. */
  readonly senderDevice?: DeviceID;
  /** Its content, unchecked. */
  readonly content: JsonObject;
  /** Where it stands, if it came through a room. */
  readonly place?: {
    readonly roomId: RoomID;
    readonly eventId: EventID;
    /** When it was sent, as the server says, in milliseconds since the epoch. */
    readonly at: number;
  };
}

/** Returns whether an event belongs to a verification. */
export function isVerification(type: string, content: JsonObject): boolean {
  return type.startsWith(VERIFICATION_PREFIX) ||
    type === "m.room.message" && content.msgtype === REQUEST_TYPE;
}
