/**
 * Copies of what a device keeps, which are put back: as from a backup, or by who can write to it.
 *
 * @module
 */

import type { ActionKind } from "./action.ts";
import type { Device } from "../world/device.ts";
import { Fork } from "../disks/fork.ts";
import type { World } from "../world/world.ts";

/** By when a copy has begun: the lease that was copied has ended, in milliseconds. */
const LEASE_ENDS = 70_000;
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
  {
    name: "a copy of a disk is in use, too",
    weight: 3,
    async perform({ world, device, room, action: { what } }) {
      const { loss, account, disk, process, seen, ledger } = device;
      if (!device.isRunning || process?.isPaused !== false || account.isBot || world.setback !== undefined) {
        return;
      }
      // Where users vouch for devices, what two make of one identity is another story.
      if (world.isVouched || account.recoveryKey !== undefined) return;
      if (device.publishedAt === Infinity || loss.backup !== undefined || !knowsRooms(world, seen)) return;
      world.note(`a copy of the disk of ${device.name} is in use, too`);
      world.reach("state: two processes of one device ran on two stores");
      const { timeline } = world;
      loss.fork({ disk: await disk.copy(), at: timeline.now, seen, noted: ledger.length });
      const fork = device.fork = new Fork(world, device.name, {
        disk: await disk.duplicate(),
        noticedAt: loss.noticedAt,
      });
      const { client, process: copy } = device.begin({ store: fork.disk.store, isExtra: true });
      copy.excuse = [];
      fork.copy = copy;
      client.start({ timeout: 120_000, ...world.sync }).catch(() => {}); // `done` says why
      for (let count = 1; count <= 1 + what % 3; count++) {
        timeline.schedule(LEASE_ENDS + count * 2_000, "", () => {
          if (!copy.isAlive) return;
          client.sendText(room.id, `copy ${device.name}${" again".repeat(count)}`).catch(() => {});
          if ((what >> 2) % 2 === 0) world.say(device, room);
        });
      }
      timeline.schedule(LEASE_ENDS + (1 + (what >> 3) % 4) * 30_000, "", () => {
        world.note(`the copy of ${device.name} is not in use any more`);
        fork.end();
      });
    },
  },
];
