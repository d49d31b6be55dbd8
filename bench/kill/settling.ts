/**
 * Waits until the peers have the bot's device, and until everything is answered in the end.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import type { Setup } from "./setup.ts";
import type { Said } from "./talk.ts";

/** How long all may take to settle at the end, in milliseconds. */
const PATIENCE_MS = 180_000;
const LOOK_MS = 200;

/**
 * Waits until the peers have the bot's device: one that queried the user earlier might leave it
 * out.
 */
export async function introduce({ peers, bot, observer }: Setup): Promise<void> {
  for (const peer of peers) await peer.awaitDevice(bot.userId, bot.deviceId);
  while (!(await observer.crypto?.getDevices(bot.userId))?.length) await delay(LOOK_MS);
}

/**
 * Waits until everything has arrived, up to a bound: `judge()` finds what is missing then.
 */
export async function settles(
  { ledger, observed, rooms }: Setup,
  said: readonly Said[],
): Promise<boolean> {
  const encrypted = new Set<string>(rooms.map(({ roomId }) => roomId));
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(LOOK_MS)) {
    const { answered, unknown } = ledger;
    if (unknown.size > 0 || !said.every(({ eventId }) => answered.has(eventId))) continue;
    const replies = observed.filter(({ body }) => body.startsWith("reply ")).length;
    const others = observed.filter(({ body }) => body.startsWith("bot ")).length;
    const received = said.filter(({ roomId }) => encrypted.has(roomId)).length;
    if (replies >= received && others >= ledger.next) return true;
  }
  return false;
}
