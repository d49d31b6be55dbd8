/**
 * Who came into the rooms of a user, and who left them: in a sync response their presence follows,
 * and their devices are to be looked at.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import { membershipOf, type RoomEvent } from "../model/events/room_event.ts";
import { firstAfter } from "../model/events/search.ts";
import type { Room } from "../model/rooms/room.ts";
import { startOf, type SyncJob } from "./sync_job.ts";

/** Who came and went. */
export interface Arrivals {
  /** Users whose member event in a room of the user's says that they are, or will be, there. */
  readonly come: ReadonlySet<UserID>;
  /** Users who were in a room of the user's. */
  readonly gone: ReadonlySet<UserID>;
}

const PRESENT = ["join", "invite", "knock"];

/** What an incremental sync tells of members; of an initial one, nothing. */
export function arrivalsOf(job: SyncJob): Arrivals {
  const come = new Set<UserID>();
  const gone = new Set<UserID>();
  const note = (event: RoomEvent) => {
    const isHidden = !job.filter.state.allows(event) && !job.filter.timeline.allows(event);
    if (event.type !== "m.room.member" || event.stateKey === undefined || isHidden) return;
    const member = event.stateKey as UserID;
    if (PRESENT.includes(membershipOf(event))) {
      come.add(member);
      gone.delete(member);
    } else {
      if (membershipOf(event.replaces) === "join") gone.add(member);
      come.delete(member);
    }
  };
  if (job.since === undefined) return { come, gone };
  for (const id of job.user.roomsWith("join")) {
    const room = job.server.rooms.get(id);
    if (room === undefined) continue;
    const newlyJoined = isNewlyJoined(job, room);
    if (newlyJoined || job.fullState) { for (const member of room.members.values()) note(member); }
    const since = newlyJoined ? job.until : startOf(job);
    for (const event of room.stateEvents.slice(firstAfter(room.stateEvents, since))) note(event);
  }
  return { come, gone };
}

/** Whether the user came into the room since the last sync, perhaps not for the first time. */
export function isNewlyJoined(job: SyncJob, room: Room): boolean {
  const since = startOf(job);
  if (job.since === undefined || room.latest <= since) return false;
  if (room.membership(job.user.id, since) !== "join") return true;
  return room.stateHistory("m.room.member", job.user.id).some((event) =>
    event.position > since && membershipOf(event) !== "join"
  );
}
