/**
 * The state of a room in a sync response.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#lazy-loading-room-members | Lazy-loading room members}
 * @module
 */

import { isWithheld } from "../model/rooms/visibility.ts";
import type { UserID } from "../../types/ids.ts";
import type { Room } from "../model/rooms/room.ts";
import { membershipOf, type RoomEvent } from "../model/events/room_event.ts";
import { firstAfter } from "../model/events/search.ts";
import type { SyncJob } from "./sync_job.ts";
import type { Stretch, Timeline } from "./timeline.ts";

/**
 * The state that a client lacks at the start of the timeline, or at its end if it asked for that.
 *
 * @param full Whether it is to get all of it.
 */
export function stateOf(
  job: SyncJob,
  room: Room,
  timeline: Timeline,
  { since, until, full }: Stretch & { full: boolean },
): RoomEvent[] {
  const speakers = job.filter.state.lazyLoadMembers ? speakersOf(job, timeline) : undefined;
  const from = full ? undefined : since;
  const isGapless = from !== undefined && isWithoutGap(job, room, timeline, from);
  let events: RoomEvent[];
  if (from === undefined) events = fullState(job, room, timeline, until, speakers);
  else if (isGapless) events = senders(room, timeline, speakers);
  else events = changes(job, room, timeline, { since: from, until }, speakers);
  if (speakers !== undefined && !job.filter.state.includeRedundantMembers) {
    const isNews = ({ position }: RoomEvent) => from !== undefined && !isGapless && position > from;
    events = events.filter((event) => isNews(event) || !isKnown(job, event));
    for (const event of [...events, ...inTimeline(timeline)]) remember(job, event);
  }
  return events.filter((event) =>
    event.type !== "m.room.aliases" && !isWithheld(room, event) && job.filter.state.allows(event) &&
    job.filter.state.allowsRelations(room, event)
  );
}

/** All state: that in force after the first event of the timeline, and what has changed within it. */
function fullState(
  job: SyncJob,
  room: Room,
  timeline: Timeline,
  until: number,
  speakers: ReadonlySet<UserID> | undefined,
): RoomEvent[] {
  const needed = speakers === undefined ? undefined : new Set([...speakers, job.user.id]);
  const end = stateAt(room, until, needed);
  if (job.stateAfter !== undefined) return end;
  return latestOfEach([...stateAtStart(room, timeline, until, needed), ...end], inTimeline(timeline));
}

/** The members who speak in a timeline, all that is to be said beside one without a gap. */
function senders(
  room: Room,
  timeline: Timeline,
  speakers: ReadonlySet<UserID> = new Set(),
): RoomEvent[] {
  const [first] = timeline.events;
  return first === undefined ? [] : room.fullState(first.position).filter(isMemberOf(speakers));
}

/** What has changed since the last sync, and who is needed to understand the timeline. */
function changes(
  job: SyncJob,
  room: Room,
  timeline: Timeline,
  { since, until }: { since: number; until: number },
  speakers: ReadonlySet<UserID> | undefined,
): RoomEvent[] {
  const isSpeaker = isMemberOf(speakers ?? new Set());
  if (job.stateAfter !== undefined) {
    const end = room.fullState(until);
    // Synapse forgets the state of a room with the last one to leave it.
    const isEmptied = (event: RoomEvent) => event.position === until && !end.some(isJoin);
    const changed = room.stateChanges(since, until).filter((event) => !isEmptied(event));
    return latestOfEach([...end.filter(isSpeaker), ...changed], new Set());
  }
  const start = stateAtStart(room, timeline, until, speakers);
  const compared = timeline.limited ? undefined : speakers;
  const before = stateAt(room, since, compared);
  const known = before.filter((event) => !isSpeaker(event) || !start.includes(event));
  const end = stateAt(room, until, compared);
  return latestOfEach([...start, ...end], new Set([...known, ...inTimeline(timeline)]));
}

/** The state after the first event of the timeline. */
function stateAtStart(
  room: Room,
  { events: [first] }: Timeline,
  until: number,
  members: ReadonlySet<UserID> | undefined,
): RoomEvent[] {
  return first === undefined
    ? stateAt(room, until, members)
    : withMembers(room.fullState(first.position), members);
}

/** Whether a timeline that state stands before has every event since the last sync. */
function isWithoutGap(job: SyncJob, room: Room, { events, limited }: Timeline, since: number): boolean {
  if (job.stateAfter !== undefined || limited) return false;
  const first = firstAfter(room.events, since);
  return events.every((event, index) => event.index === first + index);
}

/** The senders of a timeline whose membership it does not tell before. */
function speakersOf(job: SyncJob, { events }: Timeline): Set<UserID> {
  const speakers = new Set<UserID>();
  const told = new Set<string>();
  for (const { sender, type, stateKey } of events) {
    if (job.stateAfter !== undefined || !told.has(sender)) speakers.add(sender);
    if (type === "m.room.member" && stateKey !== undefined) told.add(stateKey);
  }
  return speakers;
}

function isJoin(event: RoomEvent): boolean {
  return event.type === "m.room.member" && membershipOf(event) === "join";
}

function isMemberOf(users: ReadonlySet<UserID>): (event: RoomEvent) => boolean {
  return ({ type, stateKey }) => type === "m.room.member" && users.has(stateKey as UserID);
}

/** The state at a stream position, without members who are not wanted: but for the latest event. */
function stateAt(room: Room, at: number, members: ReadonlySet<UserID> | undefined): RoomEvent[] {
  const last = room.events[firstAfter(room.events, at) - 1];
  return room.fullState(at).filter((event) => event === last || withMembers([event], members).length > 0);
}

/** Leaves out members who are not wanted. */
function withMembers(state: readonly RoomEvent[], users: ReadonlySet<UserID> | undefined): RoomEvent[] {
  return users === undefined
    ? [...state]
    : state.filter((event) => event.type !== "m.room.member" || isMemberOf(users)(event));
}

/** The state that the timeline leads to. */
function inTimeline({ events }: Timeline): Set<RoomEvent> {
  return new Set(latestOfEach(events.filter(({ stateKey }) => stateKey !== undefined), new Set()));
}

/** The latest of each piece of state among those that are not known. */
function latestOfEach(events: readonly RoomEvent[], known: ReadonlySet<RoomEvent>): RoomEvent[] {
  const latest = new Map<string, RoomEvent>();
  for (const event of events) {
    if (!known.has(event)) latest.set(`${event.type}\0${event.stateKey}`, event);
  }
  return [...latest.values()];
}

/** Forgets the members that a device was sent in responses that it has not got. */
export function forgetUnseen({ device, since }: SyncJob): void {
  for (const [user, { position }] of device.knownMembers) {
    if (since === undefined || position > since.position) device.knownMembers.delete(user);
  }
}

/** Whether this is the member event of a user that the device was last sent, in whatever room. */
export function isKnown({ device }: SyncJob, { id, stateKey }: RoomEvent): boolean {
  return device.knownMembers.get(stateKey as UserID)?.event === id;
}

/** Notes that this response sends the device a member. */
export function remember({ device, until }: SyncJob, { type, id, stateKey }: RoomEvent): void {
  if (type === "m.room.member") device.knownMembers.set(stateKey as UserID, { event: id, position: until });
}
