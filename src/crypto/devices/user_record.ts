/**
 * The record of a user's devices, the devices that it describes, with their trust,
 * and their owners by signing key.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { sameKey } from "../../types/base64.ts";
import { isPinned, isVerified, type StoredIdentity } from "./user_identity.ts";
import { type ChangeLog, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { TrackedUsers } from "./tracked_users.ts";
import type { Credentials, KnownDevice, LocalTrust, StoredDevice } from "./device_keys_check.ts";

/** The record of a user. It is kept when the user is not tracked any more. */
export interface UserRecord {
  /** The devices that are there. */
  readonly devices: readonly StoredDevice[];
  /** Devices that were there, from the one that has been gone for longest. */
  readonly gone: readonly KnownDevice[];
  /** The cross-signing keys; undefined if none were ever seen. */
  readonly identity?: StoredIdentity;
  /** Whether there was an identity, which was forgotten since the server does not show it any more. */
  readonly hadIdentity?: true;
  /**
   * When the devices were removed, since no encrypted room was shared any more, in milliseconds
   * since the epoch.
   */
  readonly leftAt?: number;
}

/** The record of an unknown user. */
export const NO_RECORD: UserRecord = { devices: [], gone: [] };

/** Returns the key of a user's record. */
export function userKey(userId: UserID): RecordKey<UserRecord> {
  return recordKey("devices", userId);
}

/** A present or former device that has sent something. */
export type FormerDevice = Pick<CryptoDevice, "deviceId" | "ed25519" | "trust">;

/**
 * Returns how far a device is trusted: the application's word goes before the user's signature.
 *
 * @param verifier The own user-signing key, which verifies other users; undefined: none does.
 */
function deviceTrust(
  device: KnownDevice,
  identity: StoredIdentity | undefined,
  verifier: string | undefined,
): DeviceTrust {
  if (device.local !== undefined) return device.local;
  const { selfSigning, pinned } = identity ?? {};
  const vouchedFor = selfSigning !== undefined &&
    (device.signedBy === selfSigning || device.signedHere === selfSigning);
  if (identity === undefined || !vouchedFor || pinned === undefined) return "unsigned";
  if (isVerified(identity, verifier)) return "verified";
  return !isPinned(identity) || identity.wasVerified === true ? "violation" : "cross-signed";
}

/** A device that has sent something. */
export interface SendingDevice {
  /** Its identity key, in unpadded base64. */
  readonly curve25519: string;
  /** What it has shown of itself, for that identity key. */
  readonly credentials?: Credentials;
}

/**
 * The present or former device with an identity key, with its trust as of now; or one that was never
 * seen, if it has shown that its user vouches for it.
 */
export function everByIdentityKey(
  { devices, gone, identity }: UserRecord,
  { curve25519, credentials }: SendingDevice,
  verifier: string | undefined,
): FormerDevice | undefined {
  const { deviceId = "", ed25519 = "", signedBy = [] } = credentials ?? {};
  // Of all keys that have signed it, only the one that the user's identity has now counts.
  const shown = signedBy.find((key) => key === identity?.selfSigning);
  const hasKey = (device: KnownDevice): boolean => device.curve25519 === curve25519;
  const known = devices.find(hasKey) ?? gone.findLast(hasKey);
  if (known !== undefined) {
    const isSame = known.deviceId === deviceId && known.ed25519 === ed25519;
    const device = isSame && shown !== undefined ? { ...known, signedBy: shown } : known;
    return { ...known, trust: deviceTrust(device, identity, verifier) };
  }
  const isKnown = (device: KnownDevice): boolean => device.deviceId === deviceId;
  // A device of that ID has other keys.
  if (shown === undefined || devices.some(isKnown) || gone.some(isKnown)) return undefined;
  const device = { deviceId, ed25519 };
  const trust = deviceTrust({ ...device, curve25519, signedBy: shown }, identity, verifier);
  return trust === "unsigned" ? undefined : { ...device, trust };
}

/** The user's devices, built once for each record and own user-signing key. */
export function devicesIn(record: UserRecord, { userId, verifier }: {
  readonly userId: UserID;
  /** The key; undefined: none verifies. */
  readonly verifier: string | undefined;
}): readonly CryptoDevice[] {
  const known = made.get(record);
  if (known !== undefined && known.verifier === verifier) return known.devices;
  const devices = record.devices.map((device) => ({
    ...described(device, userId),
    trust: deviceTrust(device, record.identity, verifier),
  }));
  made.set(record, { verifier, devices });
  return devices;
}

/** The devices by record, which never changes, and by what else their trust depends on. */
const made = new WeakMap<
  UserRecord,
  { readonly verifier: string | undefined; readonly devices: readonly CryptoDevice[] }
>();

function described(device: StoredDevice, userId: UserID): Omit<CryptoDevice, "trust"> {
  const { deviceId, curve25519, ed25519, algorithms, displayName, dehydrated } = device;
  return { userId, deviceId, curve25519, ed25519, algorithms, displayName, isDehydrated: dehydrated };
}

/**
 * A user's record with the application's decision about a device, which may be a former one. The
 * device is named with the key that was compared: its ID alone may stand for another key by now.
 *
 * @throws {ValueError} If no such device was ever there, or if it has other keys.
 */
export function withLocalTrust(
  record: UserRecord,
  device: ComparedDevice,
  trust: LocalTrust | undefined,
): UserRecord {
  const { deviceId } = device;
  compared([...record.devices, ...record.gone], device, "set the trust of");
  const say = <Known extends KnownDevice>(each: Known): Known =>
    each.deviceId === deviceId ? { ...each, local: trust } : each;
  return { ...record, devices: record.devices.map(say), gone: record.gone.map(say) };
}

/**
 * The own user's record after the own identity has signed a device.
 *
 * @throws {ValueError} If no such device is there, or it has another key than was compared.
 */
export function withSignedDevice(
  record: UserRecord,
  device: ComparedDevice,
): { readonly record: UserRecord; readonly signed: StoredDevice } {
  const known = compared(record.devices, device, "sign");
  const signed = { ...known, signedHere: record.identity?.selfSigning };
  const devices = record.devices.map((each) => each === known ? signed : each);
  return { record: { ...record, devices }, signed };
}

function compared<Known extends KnownDevice>(
  known: readonly Known[],
  { userId, deviceId, ed25519 }: ComparedDevice,
  doing: "set the trust of" | "sign",
): Known {
  const named = `device ${JSON.stringify(deviceId)} of ${JSON.stringify(userId)}`;
  const found = known.find((each) => each.deviceId === deviceId);
  if (found === undefined) {
    throw new ValueError(`Cannot ${doing} ${named}: no such device is known; look it up first`);
  }
  if (sameKey(found.ed25519, ed25519)) return found;
  throw new ValueError(
    `Cannot ${doing} ${named}: it has other keys than the ones that were compared; compare them again`,
  );
}

/**
 * How far a device is to be trusted, from bad to good.
 *
 * - `blacklisted`: the application has blocked it;
 * - `unsigned`: only the device itself and the server say that it is the user's; also an own device
 *   that is signed by an identity which the application has not accepted;
 * - `violation`: the user has signed it, but was verified once and is not any more, or the identity is one
 *   that was replaced before; or it is the own user's, and not the one that was accepted;
 * - `cross-signed`: the user has signed it, and nobody has verified the user;
 * - `verified`: the application has verified the device; or the user has signed it, and the user's
 *   identity is verified.
 */
export type DeviceTrust = "blacklisted" | "unsigned" | "violation" | "cross-signed" | "verified";

/**
 * A device whose keys have been checked: it has signed them, and they are those it had when it was
 * first seen.
 */
export interface CryptoDevice {
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
  readonly isDehydrated: boolean;
  /** How far it is to be trusted now. */
  readonly trust: DeviceTrust;
}

/** Returns whether its user vouches for a device, by the identity that counts, or it was verified. */
export function isVouchedFor({ trust }: Pick<CryptoDevice, "trust">): boolean {
  return trust === "cross-signed" || trust === "verified";
}

/** Returns whether a device of the own user is a dehydrated one that the own identity has signed. */
export function isOwnDehydrated(
  { isDehydrated, trust }: Pick<CryptoDevice, "isDehydrated" | "trust">,
): boolean {
  return isDehydrated && trust === "verified";
}

/** A device that the application has compared: its name, and the key that it was compared by. */
export type ComparedDevice = Pick<CryptoDevice, "userId" | "deviceId" | "ed25519">;

/** Finds devices whose keys have been checked. */
export interface KnownDevices {
  /** A device by its name. */
  device(tx: Transaction, userId: UserID, deviceId: DeviceID): Promise<CryptoDevice | undefined>;
  byIdentityKey(tx: Transaction, userId: UserID, curve25519: string): Promise<CryptoDevice | undefined>;
}

/** Finds such devices, and asks the server for those that are missing. */
export interface FindableDevices extends KnownDevices {
  readonly tracked: Pick<TrackedUsers, "lookUp" | "isUpToDate">;
}

/** How many devices that no record has any more are kept, beside as many as the records have. */
const MAX_FORMER = 10_000;

/**
 * Finds the user of a present or former device: a device signs its keys with its user's ID, so that
 * no other user can publish its signing key. The devices are read at the first use, which is rare.
 */
export class DeviceOwners {
  readonly #changes: Pick<ChangeLog<UserID>, "version" | "since">;
  #users = new Map<string, UserID>();
  /** How many there were when all records were read. */
  #read = 0;
  /** What the map is the state of; undefined: of nothing yet. */
  #version: number | undefined;

  /** @param changes The changes of device lists. */
  constructor(changes: Pick<ChangeLog<UserID>, "version" | "since">) {
    this.#changes = changes;
  }

  /** The user of the device with an Ed25519 key; undefined if no such device is known. */
  async ownerOf(tx: Transaction, ed25519: string): Promise<UserID | undefined> {
    const { version } = this.#changes;
    const since = this.#users.size > 2 * this.#read + MAX_FORMER ? undefined : this.#version;
    const changed = since === undefined ? undefined : this.#changes.since(since);
    if (changed === undefined) {
      this.#version = undefined; // until all are read
      this.#users = new Map();
      for (const [[userId = ""], record] of await tx.list<UserRecord>("devices")) {
        this.#note(userId as UserID, record); // it was written under a user ID
      }
      this.#read = this.#users.size;
    } else {
      const users = [...changed];
      const records = await tx.getMany(users.map(userKey));
      for (const [index, userId] of users.entries()) this.#note(userId, records[index]);
    }
    this.#version = version;
    return this.#users.get(ed25519);
  }

  /** Old entries stay for a while: the keys of a device never change. */
  #note(userId: UserID, record: UserRecord | undefined): void {
    for (const { ed25519 } of [...record?.devices ?? [], ...record?.gone ?? []]) {
      this.#users.set(ed25519, userId);
    }
  }
}
