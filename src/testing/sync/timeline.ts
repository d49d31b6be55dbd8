/**
 * The timeline of a room in a sync response.
 *
 * @module
 */

import { paginate } from "../model/events/paginate.ts";
import type { Room } from "../model/rooms/room.ts";
import type { RoomEvent } from "../model/events/room_event.ts";
import { firstAfter } from "../model/events/search.ts";
import { canSee, isWithheld } from "../model/rooms/visibility.ts";
import type { SyncJob } from "./sync_job.ts";

/** How many events a timeline has at most if the filter does not say. */
const DEFAULT_LIMIT = 10;
/** Synapse reads so many portions before it gives up on finding enough that passes the filter. */
const PORTIONS = 5;
const SMALLEST_PORTION = 10;

/** What of a room a response is to show. */
export interface Stretch {
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
  if (!limited) events = [...shownAgain(job, room, stretch, events), ...events];
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
function shownAgain(job: SyncJob, room: Room, { since = 0 }: Stretch, events: readonly RoomEvent[]) {
  const { showAgain = 0 } = job.server.settings.quirks;
  if (showAgain === 0 || since === 0 || events.length === 0) return [];
  const allows = (event: RoomEvent): boolean => isShown(job, room, event);
  return paginate(room, { forwards: false, from: since, to: 0, limit: showAgain, allows }).reverse();
}
