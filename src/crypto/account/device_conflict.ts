/**
 * A device of which the server has other keys.
 *
 * @module
 */

import type { OwnDevice } from "../context/context.ts";

/** Describes the conflict, its possible causes, and what to do. */
export function deviceConflict({ userId, deviceId }: OwnDevice): string {
  return `Cannot use the device ${deviceId} of ${userId}: the server has keys of it that are not in this store, and they were ` +
    "not overwritten; perhaps the store is new each time (a container without a volume), or this is a second store of the " +
    "device, or the access token is that of another program (copied from Element, for one); run it with the store that has the " +
    "device's keys, or as a new device, with a store that is empty or belongs to the new one: log in again, or, in an " +
    "application service, give another deviceId";
}
