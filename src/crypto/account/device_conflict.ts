/**
 * Whether the server shows the keys of the own device, and what is said if it has others.
 *
 * @module
 */

import type { OwnDevice } from "../context/context.ts";
import { isJsonObject } from "../../types/json.ts";
import { sameKey } from "../../types/base64.ts";

/** Whether what a server shows of a device, unchecked, has the keys of the own one. */
export function showsKeys({ deviceId, curve25519, ed25519 }: OwnDevice, shown: { keys?: unknown }): boolean {
  const { keys } = shown;
  return isJsonObject(keys) && sameKey(keys[`ed25519:${deviceId}`], ed25519) &&
    sameKey(keys[`curve25519:${deviceId}`], curve25519);
}

/** Describes the conflict, its possible causes, and what to do. */
export function deviceConflict({ userId, deviceId }: OwnDevice): string {
  return `Cannot use the device ${deviceId} of ${userId}: the server has keys of it that are not in this store, and they were ` +
    "not overwritten; perhaps the store is new each time (a container without a volume), or this is a second store of the " +
    "device, or the access token is that of another program (copied from Element, for one); run it with the store that has the " +
    "device's keys, or as a new device, with a store that is empty or belongs to the new one: log in again, or, in an " +
    "application service, give another deviceId";
}
