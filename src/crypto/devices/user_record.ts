/**
 * The record of a user's devices, and the devices that it describes, with their trust.
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey } from "../records/transaction.ts";
import type { Device, DeviceTrust, LocalTrust } from "./device.ts";

/** The immutable keys of a device, and the application's decision about it. */
export interface KnownDevice {
  /** The device. */
  readonly deviceId: DeviceID;
  /** Its Curve25519 identity key, in unpadded base64. */
  readonly curve25519: string;
  /** Its Ed25519 signing key, in unpadded base64. */
  readonly ed25519: string;
  /** The application's decision; undefined: none. */
  readonly local?: LocalTrust;
  /**
   * The self-signing key whose verified signature it carries, or carried when it was last shown.
   */
  readonly signedBy?: string;
}

/** A device that is there. */
export interface StoredDevice extends KnownDevice {
  /** The encryption algorithms that it supports. */
  readonly algorithms: readonly string[];
  /** The name that its user gave it. */
  readonly displayName?: string;
  /** Whether it only receives keys. */
  readonly dehydrated: boolean;
}

/** The identity with which a user signs devices. */
export interface UserIdentity {
  /** The user. */
  readonly userId: UserID;
  /**
   * The master key that was seen first, or that the application has accepted since, in unpadded
   * base64; of the own user only an accepted one, since the server may have made the first.
   */
  readonly pinned?: string;
  /** The master key that was seen last; users compare it. */
  readonly master: string;
  /** The self-signing key that {@link master} has signed. */
  readonly selfSigning?: string;
  /** Whether the master key is another than {@link pinned}. */
  readonly changed: boolean;
}

/** A user's cross-signing keys, as far as they have been verified. */
export interface StoredIdentity extends Omit<UserIdentity, "userId" | "changed"> {
  /**
   * The self-signing keys that {@link pinned} has signed, in the order in which they came: only the
   * last counts.
   */
  readonly selfSigningKeys?: readonly string[];
}

/** An identity that the application has compared: its user and its master key. */
export type ComparedIdentity = Pick<UserIdentity, "userId" | "master">;

/** The record of a user. It is kept when the user is not tracked any more. */
export interface UserRecord {
  /** The devices that are there. */
  readonly devices: readonly StoredDevice[];
  /** Devices that were there, from the one that has been gone for longest. */
  readonly gone: readonly KnownDevice[];
  /** The cross-signing keys; undefined if none were ever seen. */
  readonly identity?: StoredIdentity;
  /**
   * When the devices were removed, since no encrypted room was shared any more, in milliseconds
   * since the epoch.
   */
  readonly leftAt?: number;
}

/** The record of an unknown user. */
export const NO_RECORD: UserRecord = { devices: [], gone: [] };

/** The identity with which a user signs devices; undefined if there never was one. */
export function identityIn({ identity }: UserRecord, userId: UserID): UserIdentity | undefined {
  if (identity === undefined) return undefined;
  const { pinned, master, selfSigning } = identity;
  return { userId, pinned, master, selfSigning, changed: pinned !== undefined && pinned !== master };
}

/** Where a user's record is. */
export function userKey(userId: UserID): RecordKey<UserRecord> {
  return recordKey("devices", userId);
}

/** A present or former device that has sent something. */
export type FormerDevice = Pick<Device, "deviceId" | "ed25519" | "trust">;

/** How far a device is trusted: the application's word goes before the user's signature. */
function deviceTrust(device: KnownDevice, identity: StoredIdentity | undefined): DeviceTrust {
  if (device.local !== undefined) return device.local;
  const vouchedFor = identity?.selfSigning !== undefined && device.signedBy === identity.selfSigning;
  if (!vouchedFor || identity.pinned === undefined) return "unsigned";
  return identity.pinned === identity.master ? "cross-signed" : "violation";
}

/** The present or former device with an identity key, with its trust as of now. */
export function everByIdentityKey(
  { devices, gone, identity }: UserRecord,
  curve25519: string,
): FormerDevice | undefined {
  const hasKey = (device: KnownDevice): boolean => device.curve25519 === curve25519;
  const device = devices.find(hasKey) ?? gone.findLast(hasKey);
  return device && { ...device, trust: deviceTrust(device, identity) };
}

/** The user's devices, built once for each record. */
export function devicesIn(record: UserRecord, userId: UserID): readonly Device[] {
  let devices = made.get(record);
  if (devices === undefined) {
    devices = record.devices.map((device) => describe(device, { userId, identity: record.identity }));
    made.set(record, devices);
  }
  return devices;
}

/** The devices by record, which never changes. */
const made = new WeakMap<UserRecord, readonly Device[]>();

function describe(
  device: StoredDevice,
  { userId, identity }: { userId: UserID; identity: StoredIdentity | undefined },
): Device {
  const { deviceId, curve25519, ed25519, algorithms, displayName, dehydrated } = device;
  const trust = deviceTrust(device, identity);
  return { userId, deviceId, curve25519, ed25519, algorithms, displayName, dehydrated, trust };
}
