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
/** How many senders and reasons are remembered; beyond that they are said again. */
const MAX_SAID = 1_000;

/** Has encrypted messages that can't be read logged, once for each sender and reason. */
export function reportUnread(client: Client, access: Access): void {
  const said = new Set<string>();
  client.addEventHandler("UNDECRYPTABLE", ({ event, reason, code }) => {
    const { sender } = event;
    const { room_id: room } = event as typeof event & { room_id: RoomID };
    const what = `${sender} ${code}`;
    if (said.has(what) || !access.hears(sender) || !access.hearsIn(room)) return;
    if (said.size >= MAX_SAID) said.clear();
    said.add(what);
    client.log.warn(code === "UNTRUSTED" ? UNTRUSTED : UNREADABLE, {
      sender,
      room,
      error: reason,
    });
  }, { name: "bot-unread" });
}
