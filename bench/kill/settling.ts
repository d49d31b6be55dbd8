/**
 * Waits for what must come: that the others know the bot, and that all is answered in the end.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import type { Stage } from "./stage.ts";
import type { Said } from "./talk.ts";

/** How long all may take to settle at the end, in milliseconds. */
const PATIENCE_MS = 180_000;
const LOOK_MS = 200;

/**
 * The peers look the bot's device up: who knew the user before the device was there might send past
 * it.
 */
export async function introduce({ peers, victim, observer }: Stage): Promise<void> {
  for (const peer of peers) await peer.awaitDevice(victim.userId, victim.deviceId);
  while (!(await observer.crypto?.getDevices(victim.userId))?.length) await delay(LOOK_MS);
}

/**
 * Waits until nothing is on its way any more, but not for ever: what then is missing, the judge
 * finds.
 */
export async function settles(
  { ledger, observed, rooms }: Stage,
  said: readonly Said[],
): Promise<boolean> {
  const encrypted = new Set<string>(rooms.map(({ roomId }) => roomId));
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(LOOK_MS)) {
    const { answered, unknown } = ledger;
    if (unknown.size > 0 || !said.every(({ eventId }) => answered.has(eventId))) continue;
    const replies = observed.filter(({ body }) => body.startsWith("reply ")).length;
    const others = observed.filter(({ body }) => body.startsWith("victim ")).length;
    const heard = said.filter(({ roomId }) => encrypted.has(roomId)).length;
    if (replies >= heard && others >= ledger.next) return true;
  }
  return false;
}
