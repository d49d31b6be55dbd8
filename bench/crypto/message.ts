/**
 * The message that everybody encrypts, and the room that it is for.
 *
 * @module
 */

import type { RoomID } from "../../src/types/ids.ts";

/** The event's type. */
export const EVENT_TYPE = "m.room.message";

/** The event's content: a text of 200 bytes. */
export const CONTENT = { msgtype: "m.text", body: "x".repeat(200) };

/**
 * The room's encryption: the most messages that any client allows, so that what is measured is not
 * rotation.
 */
export const ENCRYPTION = {
  algorithm: "m.megolm.v1.aes-sha2",
  rotation_period_msgs: 10_000,
  rotation_period_ms: 604_800_000,
};

/** The room. */
export const ROOM = "!bench:example.org" satisfies RoomID;

let events = 0;

/** An encrypted event, as a sync brings it. */
export function encryptedEvent(
  content: object,
  { sender, roomId = ROOM }: { readonly sender: string; readonly roomId?: string },
): {
  type: string;
  event_id: string;
  room_id: string;
  sender: string;
  origin_server_ts: number;
  content: object;
} {
  return {
    type: "m.room.encrypted",
    event_id: `$event${events++}`,
    room_id: roomId,
    sender,
    origin_server_ts: Date.now(),
    content,
  };
}
