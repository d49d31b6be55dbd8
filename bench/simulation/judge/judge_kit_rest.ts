/**
 * What a bot of the kit keeps of conversations, questions and reminders ends with them.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import type { KitLedger } from "../kit/kit_ledger.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";
import { Memberships } from "./memberships.ts";

/**
 * How long conversations and reminders may be pending, in milliseconds: a server that fails has them wait.
 */
const PATIENCE = 1_800_000;
/** How soon the next event of a room ends what waits for it, in milliseconds. */
const SOON = 120_000;
/** What is kept of the kit, and how many records of it there may be when nothing is pending. */
const KEPT = ["bot.conversations", "bot.waits", "bot.timers", "bot.later"];

/**
 * Nothing is left of what is over. By a clock that was wrong, something may be due in days. A question that
 * was being put when a process ended waits for the next event of its room, or for the end of the membership.
 */
export async function judgeRest(world: World, bot: Device, { isSkewed }: KitLedger): Promise<void> {
  const { name, userId, disk, shownJoined } = bot;
  const { now } = world.timeline;
  const isGoneUnseen = (room: string): boolean =>
    shownJoined.has(room as RoomID) &&
    !new Memberships(world.homeserver, room as RoomID).joined(userId, now, now);
  const left = async () => {
    const entries = await Array.fromAsync(disk.store.list([]));
    return entries.map(({ key }) => key.slice(-2).map(String)).filter(([kind = "", id = ""]) =>
      KEPT.includes(kind) && !(kind === "bot.waits" && isGoneUnseen(id))
    ).map((key) => key.join(" "));
  };
  const rest = async (ms: number) => {
    const end = world.timeline.now + ms;
    while ((await left()).length > 0 && world.timeline.now < end) await world.timeline.pass(5_000);
    return await left();
  };
  const late = await rest(PATIENCE);
  for (const room of world.rooms) {
    const speaker = world.devices.find(({ account, isRunning }) => !account.isBot && isRunning);
    if (speaker === undefined || !late.includes(`bot.waits ${room.id}`)) continue;
    world.reach("kit: a question that was being put waited for the next event");
    world.say(speaker, room);
  }
  const still = late.length > 0 ? await rest(SOON) : late;
  if (still.length > 0 && !isSkewed) world.violate(`${name} keeps ${still.join(", ")} for ever`);
}
