/**
 * Copies of what a device keeps, which are put back: as from a backup, or by who can write to it.
 *
 * @module
 */

import type { ActionKind } from "./action.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";

/** How long what a process had sent may be on its way, in milliseconds. */
const ON_ITS_WAY = 1_000;

/** Whether a device knows of each room whether it is encrypted: it would ask a server that may lie. */
function knowsRooms({ rooms }: World, seen: number): boolean {
  return rooms.every(({ encryptedAt }) => encryptedAt === Infinity || encryptedAt <= seen);
}

/** Whether the server has an event that a device has encrypted since some time. */
function hasEncrypted(world: World, { userId, deviceId }: Device, since: number): boolean {
  return world.rooms.some(({ id }) =>
    world.homeserver.room(id).messages.some(({ sender, content, origin_server_ts: at }) =>
      sender === userId && content.device_id === deviceId && at > since
    )
  );
}

/** The kinds. */
export const disks: readonly ActionKind[] = [
  {
    name: "a copy of a disk is made",
    weight: 3,
    async perform({ world, device }) {
      if (device.publishedAt === Infinity || device.loss.backup !== undefined) return;
      if (!knowsRooms(world, device.seen)) return;
      world.note(`a copy of the disk of ${device.name} is made`);
      const { seen, ledger } = device;
      device.loss.backup = {
        disk: await device.disk.copy(),
        at: world.timeline.now,
        seen,
        noted: ledger.length,
      };
    },
  },
  {
    name: "a copy of a disk is put back",
    weight: 4,
    async perform({ world, device, action: { what } }) {
      const { backup, isSuffered } = device.loss;
      if (backup === undefined || isSuffered || !knowsRooms(world, backup.seen)) return;
      if (world.setback !== undefined) return; // nothing that the server has forgotten shows it
      await device.stopAll({ how: what % 2 === 0 ? "kill" : "stop" });
      await world.timeline.pass(ON_ITS_WAY);
      if (device.goneAt < Infinity || device.isRunning) return;
      world.note(`the copy of the disk of ${device.name} is put back`);
      const isTold = hasEncrypted(world, device, backup.at);
      world.reach(`state: a disk was put back, ${isTold ? "which events show" : "which nothing shows"}`);
      // What no event on the server shows can't be found out.
      if (!isTold) world.wire.forget(device.name, backup.at);
      await device.putBack(backup);
      device.start();
    },
  },
];
