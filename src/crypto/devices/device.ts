/**
 * Devices with their trust.
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import type { Transaction } from "../records/mod.ts";

/** The application's own decision about a device. */
export type LocalTrust = "verified" | "blacklisted";

/**
 * How far a device is to be trusted, from bad to good.
 *
 * - `blacklisted`: the application has blocked it;
 * - `unsigned`: only the device itself and the server say that it is the user's; also an own device
 *   that is signed by an identity which the application has not accepted;
 * - `violation`: the user has signed it, but was verified once and is not any more, or the identity is one that was
 *   replaced before; or it is the own user's, and not the one that was accepted;
 * - `cross-signed`: the user has signed it, and nobody has verified the user;
 * - `verified`: the application has verified the device; or the user has signed it, and the user's
 *   identity is verified.
 */
export type DeviceTrust = "blacklisted" | "unsigned" | "violation" | "cross-signed" | "verified";

/**
 * A device whose keys have been checked: it has signed them, and they are those it had when it was
 * first seen.
 */
export interface Device {
  /** The device's user. */
  readonly userId: UserID;
  /** Identifies it among the devices of its user. */
  readonly deviceId: DeviceID;
  /** Its Curve25519 identity key, in unpadded base64. */
  readonly curve25519: string;
  /** Its Ed25519 signing key, in unpadded base64. */
  readonly ed25519: string;
  /** The encryption algorithms that it supports. */
  readonly algorithms: readonly string[];
  /** The name that its user gave it, according to the server; it is not signed. */
  readonly displayName?: string;
  /** Whether it is a dehydrated device: one that only receives keys. */
  readonly dehydrated: boolean;
  /** How far it is to be trusted now. */
  readonly trust: DeviceTrust;
}

/** Whether its user vouches for a device, by the identity that counts, or it was verified. */
export function isVouchedFor({ trust }: Pick<Device, "trust">): boolean {
  return trust === "cross-signed" || trust === "verified";
}

/** Whether a device of the own user is a dehydrated one that the own identity has signed. */
export function isOwnDehydrated({ dehydrated, trust }: Pick<Device, "dehydrated" | "trust">): boolean {
  return dehydrated && trust === "verified";
}

/** A device that the application has compared: its name, and the key that it was compared by. */
export type ComparedDevice = Pick<Device, "userId" | "deviceId" | "ed25519">;

/** Finds devices whose keys have been checked. */
export interface KnownDevices {
  /** A device by its name. */
  device(tx: Transaction, userId: UserID, deviceId: DeviceID): Promise<Device | undefined>;
  byIdentityKey(tx: Transaction, userId: UserID, curve25519: string): Promise<Device | undefined>;
}

/** Finds such devices, and asks the server for those that are missing. */
export interface FindableDevices extends KnownDevices {
  /** Has the server asked once for a user's devices, whether they are followed or not. */
  lookUp(tx: Transaction, userId: UserID): void;
  /** Whether a user is followed, and nothing has been announced since the server was asked about them. */
  isUpToDate(userId: UserID): boolean;
}
