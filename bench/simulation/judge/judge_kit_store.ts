/**
 * `bot.store` of a bot of the kit has what its functions have counted, once and in order, and what was set
 * from outside of them.
 *
 * @module
 */

import { countedKey, totals } from "../kit/kit_bot.ts";
import type { KitLedger } from "../kit/kit_ledger.ts";
import type { Device } from "../world/device.ts";
import type { World } from "../world/world.ts";
import { soon } from "./soon.ts";

/** Judges a bot, whose sessions are judged. */
export async function judgeKitStore(world: World, { bot, name }: Device, kit: KitLedger): Promise<void> {
  if (bot === undefined) return;
  for (const [index, { id }] of world.rooms.entries()) {
    const { by = [] } = await soon(world, bot.session(totals, id).read()) ?? {};
    const counted = await soon(world, bot.store.get<string[]>(countedKey(id))) ?? [];
    const inFunctions = by.filter((entry) => !entry.startsWith("outside "));
    if (`${counted}` !== `${inFunctions}`) {
      world.violate(
        `${name} in room ${index + 1} has in its store ${counted}, and in its session ${inFunctions}`,
      );
    }
    if (counted.length > 0) world.reach("kit: functions have counted in the store");
  }
  const listed = await soon(world, Array.fromAsync(bot.store.list<number>(["outside"]))) ?? [];
  const found = listed.map(({ key, value }) => `${key[1]}: ${value}`);
  const known = new Set<string>();
  for (const { key: [, number], isSet, isGoing, isGone } of kit.outsideValues) {
    const text = `${number}: ${number}`;
    known.add(text);
    if (isSet && !isGoing && !found.includes(text)) world.violate(`${name} has lost the value ${number}`);
    if (isGone && found.includes(text)) world.violate(`${name} has the value ${number}, which was deleted`);
    if (isGone) world.reach("kit: a value was deleted from outside");
  }
  for (const [index, text] of found.entries()) {
    if (!known.has(text)) world.violate(`${name} lists the value ${text}, which was never set`);
    if (found.indexOf(text) < index) world.violate(`${name} lists the value ${text} twice`);
  }
}
