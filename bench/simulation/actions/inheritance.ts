/**
 * Users who lose all of their devices, and take what their dehydrated device has received.
 *
 * @module
 */

import type { Account } from "../world/account.ts";
import type { Device } from "../world/device.ts";
import type { Fault } from "../world/process.ts";
import type { World } from "../world/world.ts";
import type { ActionKind } from "./action.ts";

/** How long requests are on their way, and what others are told of devices, in milliseconds. */
const SOON = 20_000;
/** How much others say meanwhile, at most. */
const MOST_SAID = 4;
/** Where a rehydration breaks off. */
const PLACES: readonly (readonly [Fault["operation"], string])[] = [
  ["commit", "rehydrated_session"],
  ["commit", "inbound"],
  ["commit", "dehydration"],
  ["request", "GET v3/dehydrated_device/*/events"],
  ["request", "PUT v3/dehydrated_device"],
  ["request", "GET v3/dehydrated_device"],
];

/** Logs all devices of a user out. */
async function loseAll(world: World, account: Account): Promise<void> {
  for (const device of account.devices.filter(({ goneAt }) => goneAt === Infinity)) {
    await device.stopAll({ how: "kill" });
    await world.timeline.pass(1_000); // what it had sent arrives
    const { token } = await account.login({ deviceId: device.deviceId, refreshes: false });
    await world.ask(token, "POST", "v3/logout", {});
    device.goneAt = world.timeline.now;
    world.note(`${device.name} is lost`);
  }
}

/** Has others talk to somebody who has no device. */
async function talk(world: World, account: Account, count: number): Promise<void> {
  const others = world.devices.filter((device) =>
    device.account !== account && device.isRunning && !device.account.isBot
  );
  for (let said = 0; said < count; said++) {
    for (const room of world.rooms) {
      const speaker = others[said % Math.max(1, others.length)];
      if (speaker !== undefined) world.say(speaker, room);
    }
    await world.timeline.pass(SOON / 4);
  }
}

/** Breaks off what a device does when it takes what the dehydrated one has received. */
function breakOff({ process }: Device, where: number): void {
  const [operation, subject] = PLACES[where % PLACES.length] ?? ["commit", "dehydration"];
  process?.plan({
    ...{ operation, subject, takesEffect: (where >> 3) % 2 === 0, after: (where >> 4) % 2 },
    kind: (where >> 5) % 2 === 0 ? "crash" : "error",
  });
}

/** The kinds. */
export const inheritance: readonly ActionKind[] = [
  {
    name: "a user loses all devices, and has the dehydrated one",
    weight: 5,
    isOfTrust: true,
    async perform({ world, device: { account }, action: { where, what } }) {
      const { dehydrated, master, isBot } = account;
      const isReady = dehydrated !== undefined && master !== undefined && !isBot &&
        world.accounts.some((other) => other !== account && !other.isBot);
      const had = world.bereavements.some((each) => each.account === account);
      if (!isReady || had || account.devices.some(({ process }) => process?.isPaused)) return;
      await world.timeline.pass(SOON);
      await loseAll(world, account);
      await world.timeline.pass(SOON);
      await talk(world, account, 1 + what % MOST_SAID);
      const heir = await world.addDevice(account);
      world.note(`${heir.name} is all that ${account.userId} has`);
      world.bereavements.push({
        account,
        at: world.timeline.now,
        dehydrated: account.dehydrated ?? dehydrated,
        heir,
      });
      heir.start();
      if (what % 4 > 0) breakOff(heir, where);
    },
  },
];
