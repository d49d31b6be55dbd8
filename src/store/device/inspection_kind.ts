/**
 * What kind of record a key stands for: what may be said of a record without saying whose or of which room it is.
 *
 * @module
 */

import type { KvKey } from "../kv_store.ts";

/** How many parts of a device's keys name the device: the user and the device ID. */
export const DEVICE_PARTS = 2;

/** The part with which the keys of a kind of records begin that has kinds below it. */
const WITH_KINDS = "crypto";

/** Whether a key belongs to a device: its first part is a user ID. */
export function isDeviceKey(key: KvKey): boolean {
  return key.length > DEVICE_PARTS && key[0]?.startsWith("@") === true;
}

/**
 * The kind of a record: `sync`, `room`, `state` and so on, and `crypto/account` and so on for those of the encryption.
 *
 * @param path The key, without the parts that name the device.
 */
export function kindOf(path: KvKey): string {
  const [first = "", second] = path;
  return first === WITH_KINDS && second !== undefined ? `${first}/${second}` : first;
}
