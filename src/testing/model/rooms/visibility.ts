/**
 * Which events a user may see.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#room-history-visibility | Room history visibility}
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import { redactedId } from "../events/redaction.ts";
import { membershipOf, type RoomEvent } from "../events/room_event.ts";
import type { User } from "../users/user.ts";
import type { Room } from "./room.ts";

/** How a user looks at a room. */
interface Look {
  /** Whether the user is not in the room: what members share is not shown then. */
  readonly peeking?: boolean;
}

/** Whether `viewer` may see `event`. */
export function canSee(room: Room, viewer: User, event: RoomEvent, { peeking = false }: Look = {}): boolean {
  if (event.type === "m.room.aliases" || isWithheld(room, event)) return false;
  if (event.stateKey === undefined && viewer.ignores(event.sender)) return false;
  const visibility = visibilityAt(room, event);
  if (visibility === "world_readable" || (visibility === "shared" && !peeking)) return true;
  const isOwn = event.type === "m.room.member" && event.stateKey === viewer.id;
  const membership = isOwn ? ownMembership(event) : membershipAt(room, viewer.id, event);
  if (membership === "join" || (isOwn && membership === "allowed")) return true;
  return visibility === "invited" && membership === "invite";
}

/** The event with an ID, if the homeserver gives it to anyone. */
export function eventToShow(room: Room | undefined, id: string): RoomEvent | undefined {
  const event = room?.event(id);
  return room === undefined || event === undefined || isWithheld(room, event) ? undefined : event;
}

/** A redaction that redacts nothing of the room is as if it were not there. */
export function isWithheld(room: Room, event: RoomEvent): boolean {
  if (event.type !== "m.room.redaction") return false;
  const target = room.event(redactedId(room.version, event) ?? "");
  return target === undefined || target.type === "m.room.create";
}

/** The membership of `viewer` that an event is seen with; Synapse shows it in `unsigned`. */
export function membershipAt(room: Room, viewer: UserID, event: RoomEvent): string {
  return room.membership(viewer, event.position);
}

/**
 * What the own member event counts as: the closer of the memberships before and after it. Those who
 * leave a room, or decline an invite, see that they do.
 */
function ownMembership(event: RoomEvent): string {
  const [after, before] = [membershipOf(event), membershipOf(event.replaces)];
  if (after === "leave" && (before === "join" || before === "invite")) return "allowed";
  return CLOSENESS.indexOf(before) < CLOSENESS.indexOf(after) ? before : after;
}

const CLOSENESS = ["join", "invite", "knock", "leave", "ban"];

/** The more open of the settings before and after the event counts. */
function visibilityAt(room: Room, event: RoomEvent): string {
  const after = settingOf(room.historyVisibility(event.position));
  if (event.type !== "m.room.history_visibility") return after;
  const before = settingOf(String(event.replaces?.content.history_visibility));
  return OPENNESS.indexOf(before) < OPENNESS.indexOf(after) ? before : after;
}

function settingOf(value: string): string {
  return OPENNESS.includes(value) ? value : "shared";
}

const OPENNESS = ["world_readable", "shared", "invited", "joined"];
