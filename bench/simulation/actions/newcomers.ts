/**
 * Devices that begin when others can miss that, or at the same time.
 *
 * @module
 */

import { Memberships } from "../judge/memberships.ts";
import { maySetBack, setBack } from "../setback/set_back.ts";
import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import { planWeather } from "../world/trust_faults.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { type ActionKind, chosen } from "./action.ts";
import { MOST_DEVICES } from "./everyday.ts";

/** By when a new device is there, in milliseconds, and how long what is said takes to arrive. */
const [READY, SOON] = [60_000, 15_000];
/** How long requests are on their way, in milliseconds. */
const ON_ITS_WAY = 1_000;
/** How much is said that the server forgets: a device that begins then announces itself in its place. */
const FORGOTTEN = 6;

/** Whether a user is in a room. */
function isIn(world: World, { id }: WorldRoom, { userId }: Account): boolean {
  return new Memberships(world.homeserver, id).at(userId, world.timeline.now) === "join";
}

/** Has a device say something in a room; a bot does when somebody else has. */
function haveSaid(world: World, room: WorldRoom, device: Device): void {
  const speaker = device.account.isBot
    ? world.devices.find(({ account, isRunning }) =>
      !account.isBot && isRunning && isIn(world, room, account)
    )
    : device;
  if (speaker !== undefined) world.say(speaker, room);
}

/** Has a user delete a device for good. */
async function lose(world: World, device: Device): Promise<void> {
  await device.stopAll({ how: "kill" });
  await world.timeline.pass(ON_ITS_WAY);
  const { token } = await device.account.login({ deviceId: device.deviceId, refreshes: false });
  await world.ask(token, "POST", "v3/logout", {});
  device.goneAt = world.timeline.now;
  world.note(`${device.name} is lost`);
}

/** The kinds. */
export const newcomers: readonly ActionKind[] = [
  {
    name: "a device begins on a server that was set back, of which somebody is not told",
    weight: 2,
    isOfTrust: true,
    async perform({ world, room, device: { account }, action: { where } }) {
      if (account.isBot || world.devices.length >= MOST_DEVICES || room.encryptedAt === Infinity) return;
      const others = world.devices.filter((each) =>
        each.account !== account && each.isRunning && each.process?.isPaused !== true &&
        each.account.encrypts && isIn(world, room, each.account)
      );
      const absent = chosen(others, where);
      const present = account.devices.find(({ isRunning }) => isRunning);
      if (absent === undefined || present === undefined || !isIn(world, room, account)) return;
      const to = world.timeline.instant();
      for (let count = 0; count < FORGOTTEN; count++) world.say(present, room);
      await world.timeline.pass(SOON);
      if (!maySetBack(world, to)) return;
      await absent.stop();
      await setBack(world, to);
      const added = await world.addDevice(account);
      added.start();
      await world.until(() => added.keysAt < Infinity, READY);
      await world.timeline.pass(SOON);
      absent.start();
      await world.timeline.pass(SOON);
      world.say(added, room);
      await world.timeline.pass(SOON);
      haveSaid(world, room, absent);
    },
  },
  {
    name: "two devices of a new user begin at once, and one is lost",
    weight: 3,
    isOfTrust: true,
    async perform({ world, action: { where, what } }) {
      if (world.devices.length + 2 > MOST_DEVICES || world.setback !== undefined) return;
      const account = world.addAccount({ isBot: false });
      if (account.recoveryKey === undefined) return;
      account.beginsAtOnce = true;
      const devices = [await world.addDevice(account), await world.addDevice(account)];
      const slow = where % 3 === 0 ? chosen(devices, where >> 2) : undefined;
      if (slow !== undefined) planWeather(world.network, slow, world.chance.branch(`slow ${where} ${what}`));
      for (const device of devices) device.start();
      if (!await world.until(() => account.master !== undefined, READY)) return;
      const { madeBy } = account;
      if (what % 4 === 0 || madeBy === undefined) return;
      madeBy.kill();
      await world.timeline.pass(SOON / 3);
      // What another has stored after it had looked is not what it has published:
      // it stores that again when it starts.
      if (account.secrets.hasChangedFor(madeBy)) {
        world.reach("trust: another has stored other keys");
        return madeBy.start();
      }
      world.reach("trust: a device that has made an identity is lost at once");
      await lose(world, madeBy);
    },
  },
];
