/**
 * Contents of what is sent to devices, and of what passes through a room or past it, and is not kept.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @module
 */

import type { EncryptionAlgorithm, Open, PresenceState } from "../enums.ts";
import type { ContentURI, DeviceID, EventID, RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { EncryptedFile } from "./file_info.ts";

/**
 * Content of `m.dummy`, which sets up an Olm session: nothing is said of it, and mostly it is
 * empty.
 */
export type DummyContent = JsonObject;

/** Content of `m.room_key`: a Megolm session that the sending device uses. Only ever encrypted. */
export type RoomKeyContent = {
  /** What the session is for. */
  algorithm: typeof EncryptionAlgorithm.MEGOLM_V1;
  /** The room that the session is used in. */
  room_id: RoomID;
  session_id: string;
  /** The session's key, in unpadded base64. */
  session_key: string;
  /** Whether the key may be passed on to users who are invited later. Default: `false`. */
  shared_history?: boolean;
};

/**
 * Content of `m.forwarded_room_key`: a Megolm session that another device uses. Only ever
 * encrypted.
 */
export type ForwardedRoomKeyContent = {
  /** What the session is for. */
  algorithm: typeof EncryptionAlgorithm.MEGOLM_V1;
  /** The room that the session is used in. */
  room_id: RoomID;
  session_id: string;
  /** The session's key, in unpadded base64. */
  session_key: string;
  /** The Curve25519 key of the device that started the session. */
  sender_key: string;
  /** The Ed25519 key that the sender claims the device has that started the session. */
  sender_claimed_ed25519_key: string;
  /** The Curve25519 keys of the devices that the key came through, the first one first. */
  forwarding_curve25519_key_chain: string[];
  /** Why the beginning of the session is missing, if it is. */
  withheld?: ForwardedKeyWithheld;
};

/** Why a forwarded key lacks the beginning of its session. */
export interface ForwardedKeyWithheld {
  /** The reason as a code, for programs. */
  code?: Open<"m.history_not_shared" | "m.unauthorised">;
  /** The reason as text, for people. */
  reason?: string;
}

/** Content of `m.room_key.withheld`: the device will not get a key. */
export type RoomKeyWithheldContent = {
  /** What the session is for. */
  algorithm: typeof EncryptionAlgorithm.MEGOLM_V1;
  /** The room that the session is used in; absent if the code is `m.no_olm`. */
  room_id?: RoomID;
  /** The session; absent if the code is `m.no_olm`. */
  session_id?: string;
  /** The Curve25519 key of the device that keeps the key, in unpadded base64. */
  sender_key: string;
  /** Why, for programs. */
  code: Open<WithheldCode>;
  /** Why, in words. */
  reason?: string;
  /** The device that keeps the key. */
  from_device?: DeviceID;
};

/** Why a device does not get a key. */
export type WithheldCode =
  /** The user or device is blocked. */
  | "m.blacklisted"
  /** The user or device is not verified. */
  | "m.unverified"
  /** The user or device may not read the message. */
  | "m.unauthorised"
  /** The device that was asked does not have the key. */
  | "m.unavailable"
  /** No Olm session could be set up. */
  | "m.no_olm"
  /** The key is from before the user joined, and is not to be passed on. */
  | "m.history_not_shared";

/** Content of `m.room_key_request`. */
export type RoomKeyRequestContent = {
  /** Whether to ask, or to take the question back. */
  action: "request" | "request_cancellation";
  /** The device that asks. */
  requesting_device_id: DeviceID;
  /** The request; the same one when it is repeated or taken back. */
  request_id: string;
  /** The key that is asked for; absent when the question is taken back. */
  body?: RequestedKeyInfo;
};

/** A key that a device asks for. */
export interface RequestedKeyInfo {
  /** The algorithm of the session. */
  algorithm: Open<EncryptionAlgorithm>;
  /** The room that the session is used in. */
  room_id: RoomID;
  /** Identifies the Megolm session of the key. */
  session_id: string;
  /** The Curve25519 key of the device that started the session; deprecated. */
  sender_key?: string;
}

/**
 * Content of `m.room_key_bundle`: keys to a room's history, for someone who is invited. Only ever
 * encrypted.
 */
export type RoomKeyBundleContent = {
  /** The room that the keys are for. */
  room_id: RoomID;
  /** Where the keys are. */
  file: EncryptedFile;
};

/** Content of `m.secret.request`. */
export type SecretRequestContent = {
  /** Whether to ask, or to take the question back. */
  action: "request" | "request_cancellation";
  /** The device that asks. */
  requesting_device_id: DeviceID;
  /** The request; the same one when it is taken back. */
  request_id: string;
  /** The secret that is asked for; absent when the question is taken back. */
  name?: string;
};

/** Content of `m.secret.send`. Only ever encrypted, and only to own, verified devices. */
export type SecretSendContent = {
  /** The request that it answers. */
  request_id: string;
  secret: string;
};

/** Content of `m.typing`. */
export type TypingContent = {
  /** Everyone who is typing in the room now. */
  user_ids: UserID[];
};

/** Content of `m.receipt`: by event, the receipts that changed. */
export type ReceiptContent = {
  [eventId: EventID]: EventReceipts;
};

/** The receipts that point at one event. */
export interface EventReceipts {
  /** Who has read up to the event. */
  "m.read"?: { [userId: UserID]: Receipt };
  /** Whether the user has read up to the event; only of the user who asked. */
  "m.read.private"?: { [userId: UserID]: Receipt };
}

/** One user's receipt. */
export interface Receipt {
  /** When it was sent, in milliseconds since the epoch. */
  ts?: number;
  /**
   * The root of the thread it is about, or `main` for what is in no thread; about all of them if
   * absent.
   */
  thread_id?: EventID | "main";
}

/** Content of `m.presence`. */
export type PresenceContent = {
  /** Whether the user is there. */
  presence: Open<PresenceState>;
  /** How long ago the user last did something, in milliseconds. */
  last_active_ago?: number;
  /** Whether the user is active right now. */
  currently_active?: boolean;
  /** What the user says about it. */
  status_msg?: string | null;
  /** The user's display name. */
  displayname?: string | null;
  /** The user's avatar. */
  avatar_url?: ContentURI | null;
};
