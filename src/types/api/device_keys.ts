/**
 * The keys of devices, and of one that is nowhere but on the server and receives keys while no other device
 * of the user is there; backups of room keys; and what may be an attack on them.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#device-keys | Device keys}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-key-backups | Server-side key backups}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3814 | MSC3814}
 *
 * @module
 */

import type { EncryptionAlgorithm, Open } from "../enums.ts";
import type { DeviceID, RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** Signatures by user and key ID (`ed25519:ABCDEF`), in unpadded base64. */
export type Signatures = { [userId: UserID]: { [keyId: string]: string } };

/** The identity keys of a device. */
export interface DeviceKeys {
  /** The device's user. */
  user_id: UserID;
  /** Identifies it among the devices of its user. */
  device_id: DeviceID;
  /** The encryption algorithms that the device supports. */
  algorithms: Open<EncryptionAlgorithm>[];
  /** The keys by `<algorithm>:<device ID>`, in unpadded base64. */
  keys: { [keyId: string]: string };
  /** The device's own signature, and others'. */
  signatures: Signatures;
  /** Whether it is a dehydrated device: one that only receives keys. Default: `false`. */
  dehydrated?: boolean;
}

/** The identity keys of a device, as a server hands them out. */
export interface QueriedDeviceKeys extends DeviceKeys {
  /** What servers add, and no signature covers. */
  unsigned?: UnsignedDeviceInfo;
}

/** What servers add to a device's keys. */
export interface UnsignedDeviceInfo {
  /** The device's name, if the user set one. */
  device_display_name?: string;
}

/** A one-time or fallback key that its device signed. */
export interface SignedKey {
  /** The key, in unpadded base64. */
  key: string;
  /** Whether it is a fallback key, which can be handed out more than once. Default: `false`. */
  fallback?: boolean;
  /** The device's signature. */
  signatures: Signatures;
}

/** A one-time key: signed, or only the key in unpadded base64. */
export type OneTimeKey = SignedKey | string;

/** One-time keys by `<algorithm>:<key ID>`. */
export type OneTimeKeys = { [keyId: string]: OneTimeKey };

/** A key by which a user vouches for devices and users. */
export interface CrossSigningKey {
  /** The key's user. */
  user_id: UserID;
  /** What the key is for. */
  usage: Open<"master" | "self_signing" | "user_signing">[];
  /** The key: one member, by `ed25519:<public key>`, in unpadded base64. */
  keys: { [keyId: string]: string };
  /** The signatures of the key; only a master key may have none. */
  signatures?: Signatures;
}

/** The body of an upload of keys. */
export interface KeysUploadRequest {
  /** The device's identity keys; absent if the server has them. */
  device_keys?: DeviceKeys;
  /** New one-time keys. */
  one_time_keys?: OneTimeKeys;
  /** New fallback keys, one for each algorithm; each takes the place of the one before. */
  fallback_keys?: OneTimeKeys;
}

/** The answer to an upload of keys. */
export interface KeysUploadResponse {
  /**
   * How many one-time keys the server has left, by algorithm; an algorithm that is missing has
   * none.
   */
  one_time_key_counts: { [algorithm: string]: number };
}

/** The answer to a query of keys. */
export interface KeysQueryResponse {
  /** By name, the servers that could not be reached, and why. */
  failures?: { [server: string]: JsonObject };
  /** The devices' keys, by user and device. */
  device_keys?: { [userId: UserID]: { [deviceId: DeviceID]: QueriedDeviceKeys } };
  /** The master keys, by user. */
  master_keys?: { [userId: UserID]: CrossSigningKey };
  /** The keys that vouch for a user's own devices, by user. */
  self_signing_keys?: { [userId: UserID]: CrossSigningKey };
  /** The own key that vouches for other users. */
  user_signing_keys?: { [userId: UserID]: CrossSigningKey };
}

/** The answer to a claim of one-time keys. */
export interface KeysClaimResponse {
  /** By name, the servers that could not be reached, and why. */
  failures?: { [server: string]: JsonObject };
  /** By user and device a key each; a device without one is missing. */
  one_time_keys: { [userId: UserID]: { [deviceId: DeviceID]: OneTimeKeys } };
}

/** Whose devices changed between two sync tokens. */
export interface KeysChangesResponse {
  /** Users whose devices or identity keys changed. */
  changed?: UserID[];
  /** Users who share no encrypted room with us any more. */
  left?: UserID[];
}

/** The answer to an upload of signatures. */
export interface SignaturesUploadResponse {
  /** By user and key, the signatures that were refused, and why. */
  failures?: { [userId: UserID]: { [keyId: string]: JsonObject } };
}

/**
 * The private keys of a dehydrated device, encrypted.
 *
 * @experimental It uses the unstable form of MSC3814: a minor version may change it.
 */
export type DehydratedDeviceData = JsonObject & {
  /** How they are encrypted. */
  algorithm: string;
};

/**
 * A dehydrated device as the server keeps it.
 *
 * @experimental It uses the unstable form of MSC3814: a minor version may change it.
 */
export interface DehydratedDevice {
  /** Identifies it among the devices of its user. */
  device_id: DeviceID;
  /** Its private keys, encrypted. */
  device_data: DehydratedDeviceData;
}

/**
 * What a client sends to leave a dehydrated device behind.
 *
 * @experimental It uses the unstable form of MSC3814: a minor version may change it.
 */
export interface DehydratedDeviceUpload extends DehydratedDevice {
  /** Its identity keys, signed. */
  device_keys: DeviceKeys;
  /** The name of the device; Synapse refuses an upload without the member. */
  initial_device_display_name: string | null;
  /** Keys that others can claim once each, by their IDs. */
  one_time_keys?: OneTimeKeys;
  /** Its fallback keys, one for each algorithm: it has to serve when the others are used up. */
  fallback_keys?: OneTimeKeys;
}

/**
 * A page of the messages to a dehydrated device.
 *
 * @experimental It uses the unstable form of MSC3814: a minor version may change it.
 */
export interface DehydratedDeviceEvents {
  /** The messages, in the order in which they came; unchecked. */
  events: unknown[];
  /** Where the next page begins; absent, or with no messages: this is the last one. */
  next_batch?: string;
}

/**
 * What the server shows, be it once, and should not be possible. None of it is used, but another identity of
 * a user who was never verified.
 *
 * - `keys-changed`: a device that is known, or was, has other keys now; the known keys stay;
 * - `key-reused`: a new device has the Curve25519 key of another device of its user; it is left
 *   out;
 * - `device-id-is-key`: a device is called like a cross-signing key; the user's devices are all
 *   left out;
 * - `too-many-devices`: a user has more devices than any user has; those that are not known are
 *   left out;
 * - `replaced-key`: a self-signing key is shown again that its user had replaced; the newest stays;
 * - `identity-changed`: a user's master key is not the one that was seen before: the user, or the server, has
 *   reset the identity. If nobody has verified the user it counts from now on, as in Element, and is
 *   `accepted`; else devices that it vouches for are in `violation` until the application accepts it.
 */
export type DeviceAlarm =
  | {
    /** What it is. */
    readonly kind: "keys-changed" | "key-reused" | "device-id-is-key";
    /** Whose device it is. */
    readonly userId: UserID;
    readonly deviceId: DeviceID;
  }
  | {
    readonly kind: "too-many-devices";
    readonly userId: UserID;
    /** How many devices the server shows. */
    readonly count: number;
  }
  | {
    readonly kind: "replaced-key";
    readonly userId: UserID;
    /** The self-signing key, in unpadded base64. */
    readonly key: string;
  }
  | {
    readonly kind: "identity-changed";
    readonly userId: UserID;
    /** The master key that was there before, in unpadded base64. */
    readonly previous: string;
    /** The master key that is there now. */
    readonly current: string;
    /** Whether it counts in place of the one before. */
    readonly isAccepted: boolean;
  };

/** What makes a version of a backup. */
export interface KeyBackupDefinition {
  /** How its keys are encrypted, such as `m.megolm_backup.v1.curve25519-aes-sha2`. */
  algorithm: string;
  /** What the algorithm needs, such as the public key. */
  auth_data: JsonObject;
}

/** A version of a backup, as the server has it. */
export interface KeyBackupVersion extends KeyBackupDefinition {
  /** The version of the backup. */
  version: string;
  /** The number of keys in the backup. */
  count: number;
  /** Changes whenever a key in it does. */
  etag: string;
}

/** A room key in a backup. */
export interface KeyBackupData {
  /** The first index that it decrypts. */
  first_message_index: number;
  /** How often it was passed on before it was backed up. */
  forwarded_count: number;
  /** Whether the device that backed it up has verified the device that it came from. */
  is_verified: boolean;
  /** The key, encrypted as the algorithm says. */
  session_data: JsonObject;
}

/** Room keys by the ID of their session. */
export interface RoomKeyBackup {
  /** The keys, by session ID. */
  sessions: { [sessionId: string]: KeyBackupData };
}

/** Room keys of all rooms. */
export interface KeyBackupRooms {
  /** The keys, by room. */
  rooms: { [roomId: RoomID]: RoomKeyBackup };
}

/** What a backup is after its keys have changed. */
export type KeyBackupChange = Partial<Pick<KeyBackupVersion, "count" | "etag">>;
