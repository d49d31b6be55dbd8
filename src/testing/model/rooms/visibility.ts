/**
 * Which events a user may see.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#room-history-visibility | Room history visibility}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import type { Room } from "./room.ts";
import { membershipOf, type RoomEvent } from "../events/room_event.ts";

/** Whether `viewer` may see `event`. */
export function canSee(room: Room, viewer: UserID, event: RoomEvent): boolean {
  const now = room.membership(viewer);
  const visibility = visibilityAt(room, event);
  if (visibility === "world_readable") return true;
  if (visibility === "shared" && now === "join") return true;
  const then = membershipAt(room, viewer, event);
  if (then === "join") return true;
  if (visibility === "invited" && then === "invite") return true;
  // Your own member event is always yours to see: it tells you that you were invited, removed or
  // banned.
  if (event.type === "m.room.member" && event.stateKey === viewer) return true;
  return visibility === "shared" && joinedLater(room, viewer, event);
}

/** The membership of `viewer` that an event is seen with; Synapse shows it in `unsigned`. */
export function membershipAt(room: Room, viewer: UserID, event: RoomEvent): string {
  return room.membership(viewer, event.position);
}

/** The more open of the settings before and after the event counts. */
function visibilityAt(room: Room, event: RoomEvent): string {
  const after = room.historyVisibility(event.position);
  if (event.type !== "m.room.history_visibility") return after;
  const before = room.historyVisibility(event.position - 1);
  return OPENNESS.indexOf(before) < OPENNESS.indexOf(after) ? before : after;
}

const OPENNESS = ["world_readable", "shared", "invited", "joined"];

function joinedLater(room: Room, viewer: UserID, event: RoomEvent): boolean {
  return room.stateHistory("m.room.member", viewer).some((member) =>
    member.position > event.position && membershipOf(member) === "join"
  );
}
