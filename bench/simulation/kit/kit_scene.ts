/**
 * Who takes part in what happens to bots of the kit, and what it waits for.
 *
 * @module
 */

import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { COMMANDS, commandText } from "./kit_texts.ts";

/** By when a bot has done what it was asked for, in milliseconds. */
const ASKING = 10_000;

/** What a bot sends: in clear, and encrypted. */
export const SENDS = ["PUT v3/rooms/*/send/m.room.message", "PUT v3/rooms/*/send/m.room.encrypted"] as const;

/** A device of a person. */
export function personOf(world: World, device: Device): Device | undefined {
  if (!device.account.isBot) return device;
  return world.devices.find(({ account, goneAt }) => !account.isBot && goneAt === Infinity);
}

/** A running device of each of the other people. */
export function othersOf(world: World, { account: own }: Device): Device[] {
  return world.accounts.filter((account) => !account.isBot && account !== own)
    .flatMap(({ devices }) =>
      devices.find(({ isRunning, goneAt }) => isRunning && goneAt === Infinity) ?? []
    );
}

/** Bots of the kit. */
export function botsOf(world: World): Device[] {
  return world.devices.filter(({ kit, goneAt }) => kit !== undefined && goneAt === Infinity);
}

/** Whether a device has a process that does something. */
export function isAtWork(device: Device | undefined): device is Device {
  return device?.isRunning === true && device.process?.isPaused !== true;
}

/** Has a person begin a conversation, and waits until the bot puts its question; its number, if it does. */
export async function beginConversation(
  world: World,
  { person, bot, room, name }: {
    readonly person: Device;
    readonly bot: Device;
    readonly room: WorldRoom;
    readonly name: "order" | "survey";
  },
): Promise<number | undefined> {
  const { number } = world.say(person, room, { words: (number) => commandText(name, number) }) ?? {};
  if (number === undefined) return undefined;
  return await isSaying(world, bot, (text) => text === `${COMMANDS[name]} of ${number}`) ? number : undefined;
}

/** Waits until a bot is about to send a text. */
export async function isSaying(
  world: World,
  { knownAt }: Device,
  isIt: (text: string) => boolean,
): Promise<boolean> {
  const from = knownAt.size;
  let looked = from;
  let isFound = false;
  return await world.until(() => {
    if (knownAt.size > looked) isFound ||= [...knownAt.keys()].slice(looked).some(isIt);
    looked = knownAt.size;
    return isFound;
  }, ASKING);
}

/** Waits until the next message of a bot has come to the server. */
export async function hasSent(world: World, { userId }: Device, { id }: WorldRoom): Promise<void> {
  const latest = () => world.homeserver.room(id).messages.findLast(({ sender }) => sender === userId);
  const before = latest();
  await world.until(() => latest() !== before, ASKING);
}
