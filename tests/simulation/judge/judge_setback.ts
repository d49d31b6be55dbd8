/**
 * Nobody is stuck after the homeserver was set back: it has the keys of all who are there, and has
 * told them where it is.
 *
 * @module
 */

import type { World } from "../world/world.ts";

/** Judges all devices. */
export function judgeSetback(world: World): void {
  const { setback, devices } = world;
  if (setback === undefined) return;
  for (const device of devices) {
    if (device.goneAt < Infinity || !device.isRunning) continue;
    const problem = setback.problemOf(device);
    if (problem !== undefined) world.violate(`since the server was set back, ${problem} ${device.name}`);
  }
}
