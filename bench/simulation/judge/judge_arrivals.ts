/**
 * What comes beside messages reaches handlers too: invitations are followed, and what other programs
 * send to a device is there.
 *
 * @module
 */

import type { World } from "../world/world.ts";
import { Memberships } from "./memberships.ts";

/** Judges all devices. */
export function judgeArrivals(world: World): void {
  for (const [index, { id }] of world.rooms.entries()) {
    const memberships = new Memberships(world.homeserver, id);
    for (const { userId, devices, unjoined } of world.accounts) {
      // A handler that failed has settled: what it has to do is up to the application.
      if (unjoined.has(id) || devices.every(({ goneAt }) => goneAt < Infinity)) continue;
      // The kit gives up after some minutes by its clock.
      if (devices.some(({ kit }) => kit?.isSkewed)) continue;
      const isInvited = memberships.at(userId, world.timeline.now) === "invite";
      if (isInvited && world.setback?.mayMissInvitation(id, userId, devices) !== true) {
        world.violate(`${userId} was invited to room ${index + 1}, and has not joined`);
      }
    }
  }
  for (const [number, { device, at }] of world.memos) {
    if (world.setback?.mayMissMemo(device, at) === true) continue;
    if (device.goneAt === Infinity && !device.memos.has(number)) {
      world.violate(`${device.name} has not been given memo ${number}`);
    }
  }
}
