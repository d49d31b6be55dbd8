/**
 * The timeline of a room in a sync response, and the state that a client lacks beside it.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#lazy-loading-room-members | Lazy-loading room members}
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import {
  canSee,
  firstAfter,
  isWithheld,
  membershipOf,
  paginate,
  type Room,
  type RoomEvent,
} from "../rooms/mod.ts";
import type { SyncJob } from "./sync_job.ts";

/** How many events a timeline has at most if the filter does not say. */
const DEFAULT_LIMIT = 10;
/** Synapse reads so many portions before it gives up on finding enough that passes the filter. */
const PORTIONS = 5;
const SMALLEST_PORTION = 10;

/** What of a room a response is to show. */
interface Stretch {
  /** The stream position that the client has reached; `undefined` if it is to get the room anew. */
  readonly since: number | undefined;
  /** The last stream position to show. */
  readonly until: number;
  /** Whether the user came in since. */
  readonly newlyJoined: boolean;
  /** Whether the user is in the room. */
  readonly joined: boolean;
}

/** A piece of a room's history. */
export interface Timeline {
  /** The events, oldest first. */
  readonly events: readonly RoomEvent[];
  /** Whether events between the last sync and these were left out. */
  readonly limited: boolean;
  /** The stream position before the first event. */
  readonly start: number;
}

/** The latest events of a stretch that pass the filter and may be seen. */
export function timelineOf(job: SyncJob, room: Room, stretch: Stretch): Timeline {
  const { since, until, newlyJoined, joined } = stretch;
  const { filter } = job;
  if (filter.timeline.blocksAll) return { events: [], limited: false, start: until };
  const limit = filter.timeline.limit ?? DEFAULT_LIMIT;
  const first = newlyJoined || since === undefined ? 0 : firstAfter(room.events, since);
  const end = firstAfter(room.events, until);
  // What a member has missed is read first; without a gap there is no more to it.
  let next = joined && since !== undefined ? Math.max(first, end - limit - 1) : end;
  let events = room.events.slice(next, end).filter((event) => isShown(job, room, event));
  let limited = newlyJoined || !joined || since === undefined || end - next > limit;
  const portion = Math.max(2 * limit, SMALLEST_PORTION);
  for (let left = PORTIONS; limited && events.length < limit && left > 0; left--) {
    const from = Math.max(first, next - portion);
    events = [...room.events.slice(from, next).filter((event) => isShown(job, room, event)), ...events];
    limited = next - first > portion;
    next = from;
  }
  if (events.length > limit) {
    limited = true;
    events = events.slice(-limit);
  }
  if (!limited) events = [...shownAgain(job, room, since, events), ...events];
  const start = events[0] === undefined ? until : events[0].position - 1;
  return { events, limited: limited || newlyJoined, start };
}

/** State in force is always shown. */
function isShown(job: SyncJob, room: Room, event: RoomEvent): boolean {
  const { filter, user } = job;
  if (!filter.timeline.allows(event) || !filter.timeline.allowsRelations(room, event)) return false;
  if (canSee(room, user, event)) return true;
  return event.stateKey !== undefined && room.state(event.type, event.stateKey) === event &&
    event.type !== "m.room.aliases" && !isWithheld(room, event);
}

/** Events that were shown before, for a homeserver that does so. */
export function shownAgain(
  job: SyncJob,
  room: Room,
  since: number | undefined,
  events: readonly RoomEvent[],
): RoomEvent[] {
  const { showAgain = 0 } = job.server.settings.quirks;
  if (showAgain === 0 || !since || events.length === 0) return [];
  const allows = (event: RoomEvent): boolean => isShown(job, room, event);
  return paginate(room.events, { forwards: false, from: since, to: 0, limit: showAgain, allows }).reverse();
}

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

/** Returns what has changed since the last sync, and who is needed to understand the timeline. */
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

/** Returns whether a timeline that state stands before has every event since the last sync. */
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

/** Returns whether this is the member event of a user that the device was last sent, in whatever room. */
export function isKnown({ device }: SyncJob, { id, stateKey }: RoomEvent): boolean {
  return device.knownMembers.get(stateKey as UserID)?.event === id;
}

/** Notes that this response sends the device a member. */
export function remember({ device, until }: SyncJob, { type, id, stateKey }: RoomEvent): void {
  if (type === "m.room.member") device.knownMembers.set(stateKey as UserID, { event: id, position: until });
}
