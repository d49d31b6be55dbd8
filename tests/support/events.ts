/**
 * Events as operations answer with them.
 *
 * @module
 */

import type { ClientEvent } from "@greenroom/matrix/types";

/** An event of the room `!room`, with everything that one must have. */
export function clientEvent(id: string, more: Partial<ClientEvent> = {}): ClientEvent {
  return {
    type: "m.room.message",
    event_id: `$${id}`,
    room_id: "!room",
    sender: "@bob:b.org",
    origin_server_ts: 1,
    content: { msgtype: "m.text", body: id },
    ...more,
  };
}
