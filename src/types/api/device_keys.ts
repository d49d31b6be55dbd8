/**
 * Public keys of devices and users, and the endpoints they travel through.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-management | Key management}
 * @module
 */

import type { EncryptionAlgorithm, Open } from "../enums.ts";
import type { DeviceID, UserID } from "../ids.ts";
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
