/**
 * Moments at which history that is shared tells more than it should:
 * a room that hid its history for a while, and a device that is gone again before anybody has spoken.
 *
 * @module
 */

import type { Account } from "../../world/account.ts";
import type { Device } from "../../world/device.ts";
import type { World, WorldRoom } from "../../world/world.ts";
import { Memberships } from "../../judge/memberships.ts";
import { type ActionKind, chosen } from "../action.ts";
import { MOST_DEVICES } from "../everyday.ts";
import { findGuest, invite, newGuest, READY, sharersIn, show, SOON, talk } from "./invitations.ts";

/** Whether a user has joined a room. */
function hasJoined(world: World, room: WorldRoom, { userId }: Account): boolean {
  return new Memberships(world.homeserver, room.id).at(userId, world.timeline.now) === "join";
}

/** Has a user delete a device. */
async function remove(world: World, device: Device): Promise<void> {
  const { token } = await device.account.login({ deviceId: device.deviceId, refreshes: false });
  await world.ask(token, "POST", "v3/logout", {});
  device.goneAt = world.timeline.now;
  world.note(`${device.name} is logged out by another program`);
}

/** The kinds. */
export const historyMoments: readonly ActionKind[] = [
  {
    name: "a room hides its history while people talk, and somebody is invited later",
    weight: 5,
    isOfHistory: true,
    async perform({ world, room, action: { who, where, what } }) {
      const sharer = chosen(sharersIn(world, room), who);
      if (sharer === undefined) return;
      const guest = await findGuest(world, { sharer, room, what });
      if (guest === undefined) return;
      await show(world, room, chosen(["joined", "invited"], where) ?? "joined");
      await talk(world, room, guest);
      await show(world, room, chosen(["shared", "world_readable"], where >> 1) ?? "shared");
      if (where % 8 > 3) await talk(world, room, guest);
      await invite(world, { sharer, room, guest });
    },
  },
  {
    name: "who was invited deletes a device before anybody speaks",
    weight: 5,
    isOfHistory: true,
    async perform({ world, room, action: { who, what } }) {
      const sharer = chosen(sharersIn(world, room), who);
      if (sharer === undefined) return;
      if (world.devices.length + 2 > MOST_DEVICES) return;
      const guest = await newGuest(world);
      if (guest === undefined) return;
      const second = await world.addDevice(guest);
      second.start();
      await world.until(() => second.signedAt < Infinity, READY);
      await talk(world, room, guest);
      if (!await invite(world, { sharer, room, guest })) return;
      if (!await world.until(() => hasJoined(world, room, guest), READY)) return;
      await world.timeline.pass(SOON);
      const lost = chosen(guest.devices, what);
      if (lost === undefined || lost.goneAt < Infinity) return;
      await remove(world, lost);
      await talk(world, room, guest);
    },
  },
];
