/**
 * Nobody is stuck after the homeserver was set back: it has the keys of all who are there, and has
 * told them where it is.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";

/** Judges all devices. */
export async function judgeSetback(world: World): Promise<void> {
  const { setback, devices } = world;
  if (setback === undefined) return;
  for (const device of devices) {
    if (device.goneAt < Infinity || !device.isRunning) continue;
    const problem = setback.problemOf(device);
    if (problem === undefined || await isOnlyUnsigned(world, device)) continue;
    world.violate(`since the server was set back, ${problem} ${device.name}`);
  }
}

/**
 * Whether the server has the keys of a device again, and lacks the signature of an identity that it has
 * forgotten: if another device of the user has made a new one, its user has to accept that first.
 */
async function isOnlyUnsigned(world: World, device: Device): Promise<boolean> {
  const { account: { userId, isForgotten }, deviceId } = device;
  if (!isForgotten || world.setback?.hasTold(device) !== true) return false;
  const { device_keys } = await world.ask(world.stranger.accessToken, "POST", "v3/keys/query", {
    device_keys: { [userId]: [] },
  }) as { device_keys?: Record<string, Record<string, unknown>> };
  if (device_keys?.[userId]?.[deviceId] === undefined) return false;
  world.reach("excused, since the server was set back: the identity that had signed a device was forgotten");
  return true;
}
