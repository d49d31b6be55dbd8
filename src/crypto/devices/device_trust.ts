/**
 * How far a device is to be trusted, given what is kept of its user.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { Device, DeviceTrust } from "./device.ts";
import type { KnownDevice, StoredDevice, StoredIdentity, UserRecord } from "./user_record.ts";

/** A device that is there, or was: whose it is that something came from. */
export type FormerDevice = Pick<Device, "deviceId" | "ed25519" | "trust">;

/** How far a device is to be trusted: what the application said goes before what its user says. */
function deviceTrust(device: KnownDevice, identity: StoredIdentity | undefined): DeviceTrust {
  if (device.local !== undefined) return device.local;
  const vouchedFor = identity?.selfSigning !== undefined && device.signedBy === identity.selfSigning;
  if (!vouchedFor || identity.pinned === undefined) return "unsigned";
  return identity.pinned === identity.master ? "cross-signed" : "violation";
}

/** The device that has an identity key, or had it when it was there last, as it is to be trusted now. */
export function everByIdentityKey(
  { devices, gone, identity }: UserRecord,
  curve25519: string,
): FormerDevice | undefined {
  const hasKey = (device: KnownDevice): boolean => device.curve25519 === curve25519;
  const device = devices.find(hasKey) ?? gone.findLast(hasKey);
  return device && { ...device, trust: deviceTrust(device, identity) };
}

/** The user's devices as others see them, made once for each record. */
export function devicesIn(record: UserRecord, userId: UserID): readonly Device[] {
  let devices = made.get(record);
  if (devices === undefined) {
    devices = record.devices.map((device) => describe(device, { userId, identity: record.identity }));
    made.set(record, devices);
  }
  return devices;
}

/** Records are never changed, so that what was made of one stays right. */
const made = new WeakMap<UserRecord, readonly Device[]>();

function describe(
  device: StoredDevice,
  { userId, identity }: { userId: UserID; identity: StoredIdentity | undefined },
): Device {
  const { deviceId, curve25519, ed25519, algorithms, displayName, dehydrated } = device;
  const trust = deviceTrust(device, identity);
  return { userId, deviceId, curve25519, ed25519, algorithms, displayName, dehydrated, trust };
}
