/**
 * How processes are started, rightly and wrongly.
 *
 * @module
 */

import type { UserID } from "@greenroom/matrix/types";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { DeviceConflictError, SecretStorageError, StoreInUseError } from "@greenroom/matrix/errors";
import { type ActionKind, chosen } from "./action.ts";
import type { Login } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";

/** By when a process without the device's keys has ended, in milliseconds. */
const CONFLICT = 120_000;
/** By when a process has ended that does not wait for the device, in milliseconds. */
const IMPATIENCE = 5_000;

/** Starts a process that must be refused: it has not the keys that the server has of its device. */
function mustConflict(
  world: World,
  device: Device,
  how: { readonly store?: MemoryStore; readonly login?: Login; readonly mxid?: UserID },
): void {
  const run = device.begin({ ...how, isExtra: true });
  run.process.excuse = [DeviceConflictError, SecretStorageError];
  run.client.start().catch(() => {}); // `done` says why
  world.timeline.schedule(CONFLICT, "", () => run.process.kill());
}

/** Whether the server shows the keys of a device: else nothing tells a process that it has not those. */
function isShown({ setback }: World, device: Device): boolean {
  return device.publishedAt < Infinity && setback?.lacksKeysOf(device) !== true;
}

/** Sees to it that nothing is sent with a login but questions. */
function mustSendNothing(world: World, { name }: Device, { token }: Login): void {
  world.network.watch(token, ({ method, url: { pathname } }) => {
    if ((method === "GET" && !pathname.endsWith("/sync")) || pathname.endsWith("/keys/query")) return;
    world.violate(`${method} ${pathname} was sent with a token of ${name} that it was not to be sent with`);
  });
}

/** Has both processes of a device say the same, or gives both something to answer. */
function speakTo(world: World, device: Device, { room, first }: { room: WorldRoom; first: Client }): void {
  if (!device.account.isBot) {
    world.say(device, room, { also: first });
    return;
  }
  const person = world.accounts[0]?.devices.find(({ isRunning }) => isRunning);
  if (person !== undefined) world.say(person, room);
}

/** The kinds. */
export const deployment: readonly ActionKind[] = [
  {
    name: "start twice",
    weight: 3,
    perform({ world, device, room, action: { what } }) {
      const { process, client } = device;
      if (process === undefined || client === undefined || !device.isRunning || process.isPaused) return;
      world.note(`${device.name} is started a second time`);
      device.begin().client.start({ timeout: 120_000, ...world.sync }).catch(() => {}); // `done` says why
      const later = (what % 10) * 15_000;
      const end = chosen(["kill", "close", "pause"], what >> 4);
      if (end === "pause") process.pause();
      world.timeline.schedule(later, `${device.name}: ${end} of the first`, () => {
        if (end === "kill") process.kill();
        else if (end === "close") client.close().finally(() => process.kill());
        else {
          process.resume();
          speakTo(world, device, { room, first: client });
        }
      });
      if (end === "pause") world.timeline.schedule(later + 60_000, "", () => process.kill());
    },
  },
  {
    name: "start a second time, without patience",
    weight: 2,
    perform({ world, device }) {
      if (!device.isRunning || device.process?.isPaused) return;
      world.note(`${device.name} is started a second time, and does not wait`);
      const { process, client } = device.begin({ isExtra: true, held: "refuse" });
      process.excuse = [StoreInUseError];
      client.start().catch(() => {}); // `done` says why
      world.timeline.schedule(IMPATIENCE, "", () => process.kill());
    },
  },
  {
    name: "wake",
    weight: 5,
    async perform({ world, device, action: { what } }) {
      if (device.process?.isPaused || !device.mayBegin) return;
      await device.stop();
      world.note(`${device.name} wakes for one sync`);
      const { client, process } = device.begin();
      const end = chosen(
        ["evicted later", "evicted at a commit", "evicted at a request", "not evicted"],
        what,
      );
      const takesEffect = (what >> 2) % 2 === 0;
      if (end === "evicted at a commit" || end === "evicted at a request") {
        const operation = end === "evicted at a commit" ? "commit" : "request";
        process.plan({ operation, after: (what >> 3) % 12, takesEffect, kind: "crash" });
      }
      client.syncOnce(world.sync).catch((error) => world.note(`${device.name} could not sync: ${error}`))
        .then(() => client.close()).then(() => process.kill());
      if (end === "evicted later") {
        world.timeline.schedule(what, `${device.name} is evicted`, () => process.kill());
      }
    },
  },
  {
    name: "start without its disk",
    weight: 1,
    perform({ world, device }) {
      if (!isShown(world, device)) return;
      world.note(`${device.name} is started without its disk`);
      mustConflict(world, device, { store: new MemoryStore() });
    },
  },
  {
    name: "start with the token of another",
    weight: 1,
    perform({ world, device, action }) {
      const others = device.account.devices.filter((other) =>
        other !== device && other.goneAt === Infinity && isShown(world, other)
      );
      const other = chosen(others, action.what);
      if (other === undefined) return;
      world.note(`${device.name} is started with the token of ${other.name}`);
      mustConflict(world, device, { login: other.login });
    },
  },
  {
    name: "start with the token of another user",
    weight: 2,
    async perform({ world, device, action: { what } }) {
      const others = world.devices.filter((other) =>
        other.account !== device.account && other.goneAt === Infinity && isShown(world, other)
      );
      const other = chosen(others, what >> 1);
      if (other === undefined || !device.account.encrypts) return;
      // Told whose it is, it finds that the token is not; else it is a device whose keys it does not have.
      const mxid = what % 2 === 0 ? device.userId : undefined;
      world.note(
        `${device.name} is started with the token of ${other.name}${mxid ? ", as its own user" : ""}`,
      );
      world.reach(`state: started with the token of another user${mxid ? ", as the own one" : ""}`);
      const login = await other.account.login({ deviceId: other.deviceId, refreshes: false });
      mustConflict(world, device, { login, mxid });
      mustSendNothing(world, other, login);
    },
  },
];
