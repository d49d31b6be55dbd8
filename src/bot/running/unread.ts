/**
 * Says in the log what the bot can't read: who wrote it waits for an answer.
 *
 * @module
 */

import type { Client } from "../../../mod.ts";
import type { Access } from "../policy/access.ts";
import type { RoomID } from "../../../types.ts";

const UNREADABLE = "An encrypted message can't be read, and is not answered unless its key comes";
const UNTRUSTED = "An encrypted message is not answered unless the device that sent it comes to be trusted";
/**
 * How long a message may wait to be read, in milliseconds: its key, or the look-up of its sender, may
 * be on its way.
 */
const PATIENCE = 15_000;
/** How many senders and reasons are remembered, beyond which they are said again; and how many messages wait. */
const MAX_SAID = 1_000;

/**
 * Has encrypted messages that can't be read logged, once for each sender and reason.
 *
 * @param client The bot's client.
 * @param access Whom the bot hears: nobody misses an answer to others.
 * @param signal Signals that the bot ends: what is unread by then is said.
 */
export function reportUnread(client: Client, access: Access, signal: AbortSignal): void {
  const said = new Set<string>();
  let waiting = 0;
  client.addEventHandler("UNDECRYPTABLE", ({ event, reason, code }) => {
    const { sender } = event;
    const { room_id: room } = event as typeof event & { room_id: RoomID };
    const what = `${sender} ${code}`;
    if (said.has(what) || !access.hears(sender) || !access.hearsIn(room)) return;
    const then = client.crypto; // another takes its place if another process has had the device
    const say = () => {
      const isRead = [then, client.crypto].some((each) => each?.wasRecovered(event) === true);
      if (said.has(what) || isRead) return;
      if (said.size >= MAX_SAID) said.clear();
      said.add(what);
      client.log.warn(code === "UNTRUSTED" ? UNTRUSTED : UNREADABLE, { sender, room, error: reason });
    };
    if (waiting >= MAX_SAID) return say();
    waiting++;
    // Not awaited: a handler that waits would hold up what comes after it.
    client.api.clock.delay(PATIENCE, { signal, persistent: false }).catch(() => {}).then(() => {
      waiting--;
      say();
    });
  }, { name: "bot-unread" });
}
