/**
 * The state of a room in a sync response.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#lazy-loading-room-members | Lazy-loading room members}
 * @module
 */

import { isWithheld } from "../model/rooms/visibility.ts";
import type { EventID, UserID } from "../../types/ids.ts";
import type { KnownMember } from "../model/users/device.ts";
import type { Room } from "../model/rooms/room.ts";
import type { RoomEvent } from "../model/events/room_event.ts";
import { startOf, type SyncJob } from "./sync_job.ts";
import type { Timeline } from "./timeline.ts";

/**
 * The state that a client lacks at the start of the timeline, or at its end if
 * it asked for that.
 */
export function stateOf(
  job: SyncJob,
  room: Room,
  timeline: Timeline,
  until: number,
  full: boolean,
): RoomEvent[] {
  // Synapse treats a filtered-out timeline as one without gaps, and sends no state then.
  if (!full && job.filter.timeline.blocksAll) return [];
  const at = job.stateAfter !== undefined ? until : timeline.start;
  const lazy = job.filter.state.lazyLoadMembers;
  let events = full ? room.fullState(at) : room.stateChanges(startOf(job), at);
  if (lazy) events = loadLazily(job, room, timeline, at, full, events);
  return events.filter((event) =>
    event.type !== "m.room.aliases" && !isWithheld(room, event) && job.filter.state.allows(event)
  );
}

/**
 * Reduces members to the senders of the timeline, those who changed since, and the user.
 */
function loadLazily(
  job: SyncJob,
  room: Room,
  timeline: Timeline,
  at: number,
  full: boolean,
  events: readonly RoomEvent[],
): RoomEvent[] {
  const speakers = new Set<UserID>(timeline.events.map(({ sender }) => sender));
  if (full) speakers.add(job.user.id);
  const needed = new Map<UserID, RoomEvent>();
  for (const user of speakers) {
    const member = room.state("m.room.member", user, at);
    if (member !== undefined) needed.set(user, member);
  }
  const state = events.filter((event) => event.type !== "m.room.member" || !full);
  const changed = new Set<EventID>(state.map(({ id }) => id));
  for (const [user, member] of needed) {
    const redundant = changed.has(member.id) ||
      (!job.filter.state.includeRedundantMembers && knowsMember(job, room, user, member));
    if (!redundant) state.push(member);
  }
  for (const event of [...state, ...timeline.events]) {
    if (event.type === "m.room.member") rememberMember(job, room, event);
  }
  return state;
}

/** Whether the client has got this member event in a response that it has acknowledged. */
export function knowsMember(job: SyncJob, room: Room, user: UserID, member: RoomEvent): boolean {
  const known = job.device.knownMembers.get(room.id)?.get(user);
  return known?.event === member.id && known.position <= startOf(job);
}

/** Notes that this response sends the client a member. */
export function rememberMember(job: SyncJob, room: Room, member: RoomEvent): void {
  if (member.stateKey === undefined) return;
  const known = job.device.knownMembers.get(room.id) ?? new Map<UserID, KnownMember>();
  job.device.knownMembers.set(room.id, known);
  known.set(member.stateKey as UserID, { event: member.id, position: job.until });
}
