/** A server that keeps devices' keys, for tests. */

import type {
  CryptoDevice,
  DeviceID,
  DeviceKeys,
  JsonObject,
  KeysUploadRequest,
  OneTimeKeys,
  UserID,
} from "@greenroom/matrix/types";
import type { FindableDevices } from "../../../src/crypto/devices/mod.ts";
import type { KeyClaim } from "../../../src/crypto/olm/olm.ts";

/** What a server has of a device. */
interface Published {
  keys?: DeviceKeys;
  readonly oneTimeKeys: Map<string, unknown>;
  fallback?: [string, unknown];
}

/** Keeps keys, as a server does, and says who is who, as a list of devices does. */
export class KeyServer implements FindableDevices {
  readonly published = new Map<string, Published>();
  /** Devices that lists of devices do not show. */
  readonly hidden = new Set<string>();
  /** Devices that the application has blocked. */
  readonly blacklisted = new Set<string>();

  /** The users who were looked up. */
  readonly lookedUp: UserID[] = [];

  readonly tracked = {
    lookUp: (_tx: unknown, userId: UserID): void => void this.lookedUp.push(userId),
    isUpToDate: () => false, // it follows nobody
  };

  /** Takes an upload. */
  upload(userId: UserID, deviceId: DeviceID, request: KeysUploadRequest): JsonObject {
    const device = this.of(userId, deviceId);
    if (request.device_keys) device.keys = request.device_keys;
    for (const [id, key] of Object.entries(request.one_time_keys ?? {})) device.oneTimeKeys.set(id, key);
    for (const entry of Object.entries(request.fallback_keys ?? {})) device.fallback = entry;
    return { one_time_key_counts: { signed_curve25519: device.oneTimeKeys.size } };
  }

  /** Answers a claim: one-time keys first, then the fallback key. */
  claim({ oneTimeKeys }: KeyClaim): JsonObject {
    const answer: Record<string, Record<string, OneTimeKeys>> = {};
    for (const [userId, devices] of Object.entries(oneTimeKeys)) {
      for (const deviceId of Object.keys(devices)) {
        const device = this.of(userId, deviceId);
        const [first] = device.oneTimeKeys;
        const entry = first ?? device.fallback;
        if (first) device.oneTimeKeys.delete(first[0]);
        if (entry) (answer[userId] ??= {})[deviceId] = Object.fromEntries([entry]) as OneTimeKeys;
      }
    }
    return { one_time_keys: answer };
  }

  /** What is published of a device. */
  of(userId: string, deviceId: string): Published {
    const name = `${userId} ${deviceId}`;
    const found = this.published.get(name) ?? { oneTimeKeys: new Map() };
    this.published.set(name, found);
    return found;
  }

  device(_tx: unknown, userId: UserID, deviceId: DeviceID): Promise<CryptoDevice | undefined> {
    const keys = this.published.get(`${userId} ${deviceId}`)?.keys;
    const isHidden = this.hidden.has(deviceId);
    return Promise.resolve(keys === undefined || isHidden ? undefined : this.#known(keys));
  }

  byIdentityKey(_tx: unknown, userId: UserID, curve25519: string): Promise<CryptoDevice | undefined> {
    for (const [name, { keys }] of this.published) {
      if (!name.startsWith(`${userId} `) || keys === undefined || this.hidden.has(keys.device_id)) continue;
      const device = this.#known(keys);
      if (device.curve25519 === curve25519) return Promise.resolve(device);
    }
    return Promise.resolve(undefined);
  }

  #known(keys: DeviceKeys): CryptoDevice {
    const device = toDevice(keys);
    return this.blacklisted.has(device.deviceId) ? { ...device, trust: "blacklisted" } : device;
  }
}

/** A device as lists of devices have it. */
export function toDevice(keys: DeviceKeys): CryptoDevice {
  const { user_id: userId, device_id: deviceId, algorithms } = keys;
  return {
    userId,
    deviceId,
    curve25519: keys.keys[`curve25519:${deviceId}`] ?? "",
    ed25519: keys.keys[`ed25519:${deviceId}`] ?? "",
    algorithms,
    isDehydrated: keys.dehydrated === true,
    trust: "unsigned",
  };
}
