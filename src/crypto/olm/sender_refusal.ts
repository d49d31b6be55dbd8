/**
 * Which devices may send what.
 *
 * @module
 */

import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { UserID } from "../../types/ids.ts";
import type { Device, KnownDevices } from "../devices/device.ts";
import type { Transaction } from "../records/transaction.ts";

/**
 * The type of messages that say where shared history is, and what it was called before it was in the
 * specification.
 */
export const BUNDLE_TYPES = ["m.room_key_bundle", "io.element.msc4268.room_key_bundle"] as const;

/**
 * What an unknown device may send: the owner of a room key shows later, and a dummy has no content.
 */
const FROM_ANYBODY: ReadonlySet<string> = new Set(["m.room_key", "m.dummy"]);
/**
 * What it may send with the keys that it has signed: who invites may share no room yet, and is looked
 * up before anything is made of it.
 */
const WITH_KEYS: ReadonlySet<string> = new Set(BUNDLE_TYPES);

/** The sender of a message. */
export interface Sender {
  /** The user. */
  readonly sender: UserID;
  /** The device, if it is known. */
  readonly device: Device | undefined;
  /** The keys that the device has signed, if it sent them along. */
  readonly deviceKeys: DeviceKeys | undefined;
  /** What it has sent. */
  readonly type: string;
}

/** Why a message must not be used, as far as its device goes; undefined: it may. */
export async function senderRefusal(
  tx: Transaction,
  devices: Pick<KnownDevices, "device">,
  { sender, device, deviceKeys, type }: Sender,
): Promise<string | undefined> {
  if (device !== undefined) {
    if (device.dehydrated) return "a dehydrated device must not send anything";
    if (deviceKeys === undefined || deviceKeys.device_id === device.deviceId) return undefined;
    return "it names another device than the one whose key it came with";
  }
  if (deviceKeys !== undefined) {
    const known = await devices.device(tx, sender, deviceKeys.device_id);
    if (known !== undefined) return "its device is known by other keys";
    if (WITH_KEYS.has(type)) return undefined;
  }
  return FROM_ANYBODY.has(type) ? undefined : "its device is not known";
}
