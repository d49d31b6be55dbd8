/** The room that tests are about, who is in it, and its state. */

import type { JsonObject, RoomID, StateEvent, UserID } from "@greenroom/matrix/types";

/** The room of most tests. */
export const ROOM: RoomID = "!room";
/** Who sends. */
export const ME: UserID = "@me:example.org";
/** Others. */
export const ALICE: UserID = "@alice:example.org", BOB: UserID = "@bob:example.org";

/** A membership event. */
export function memberEvent(userId: string, membership: unknown): StateEvent {
  return stateEvent("m.room.member", { membership }, userId);
}

/** A state event. */
export function stateEvent(type: string, content: JsonObject, stateKey = ""): StateEvent {
  return {
    type,
    content,
    state_key: stateKey,
    sender: ME,
    room_id: ROOM,
    event_id: "$event",
    origin_server_ts: 0,
    source: 0,
  };
}
