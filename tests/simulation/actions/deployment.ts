/**
 * How processes are started, rightly and wrongly.
 *
 * @module
 */

import { DeviceConflictError, MemoryStore } from "@greenroom/matrix";
import { type ActionKind, chosen } from "./action.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";

/** By when a process without the device's keys has ended, in milliseconds. */
const CONFLICT = 120_000;

/** Starts a process that must be refused: it has not the keys that the server has of its device. */
function mustConflict(world: World, device: Device, how: { store?: MemoryStore; token?: string }): void {
  const run = device.begin({ ...how, isExtra: true });
  run.process.excuse = DeviceConflictError;
  run.client.start().catch(() => {}); // `done` says why
  world.timeline.schedule(CONFLICT, "", () => run.process.kill());
}

/** The kinds. */
export const deployment: readonly ActionKind[] = [
  {
    name: "start twice",
    weight: 3,
    perform({ world, device, action: { what } }) {
      const { process, client } = device;
      if (process === undefined || client === undefined || !device.isRunning || process.isPaused) return;
      world.note(`${device.name} is started a second time`);
      device.begin().client.start({ timeout: 120_000 }).catch(() => {}); // `done` says why
      const later = (what % 10) * 15_000;
      const end = chosen(["kill", "close", "pause"], what >> 4);
      if (end === "pause") process.pause();
      world.timeline.schedule(later, `${device.name}: ${end} of the first`, () => {
        if (end === "kill") process.kill();
        else if (end === "close") client.close().finally(() => process.kill());
        else process.resume();
      });
      if (end === "pause") world.timeline.schedule(later + 60_000, "", () => process.kill());
    },
  },
  {
    name: "wake",
    weight: 5,
    async perform({ world, device, action: { what } }) {
      if (device.process?.isPaused) return;
      await device.stop();
      world.note(`${device.name} wakes for one sync`);
      const { client, process } = device.begin();
      client.syncOnce().catch((error) => world.note(`${device.name} could not sync: ${error}`))
        .then(() => client.close()).then(() => process.kill());
      if (what % 2 === 0) world.timeline.schedule(what, `${device.name} is evicted`, () => process.kill());
    },
  },
  {
    name: "start without its disk",
    weight: 1,
    perform({ world, device }) {
      if (device.keysAt === Infinity) return;
      world.note(`${device.name} is started without its disk`);
      mustConflict(world, device, { store: new MemoryStore() });
    },
  },
  {
    name: "start with the token of another",
    weight: 1,
    perform({ world, device, action }) {
      const others = device.account.devices.filter((other) =>
        other !== device && other.goneAt === Infinity && other.keysAt < Infinity
      );
      const other = chosen(others, action.what);
      if (other === undefined) return;
      world.note(`${device.name} is started with the token of ${other.name}`);
      mustConflict(world, device, { token: other.token });
    },
  },
];
