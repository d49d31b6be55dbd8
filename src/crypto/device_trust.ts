/**
 * How far a device is to be trusted, given what is kept of its user.
 *
 * @module
 */

import type { UserID } from "../types/ids.ts";
import type { Device, DeviceTrust } from "./device.ts";
import type { StoredDevice, StoredIdentity, UserRecord } from "./user_record.ts";

/** How far a device is to be trusted: what the application said goes before what its user says. */
export function deviceTrust(device: StoredDevice, identity: StoredIdentity | undefined): DeviceTrust {
  if (device.local !== undefined) return device.local;
  const vouchedFor = identity?.selfSigning !== undefined && device.signedBy === identity.selfSigning;
  if (!vouchedFor) return "unsigned";
  return identity.pinned === identity.master ? "cross-signed" : "violation";
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
