/**
 * The timeline of a room in a sync response.
 *
 * @module
 */

import { paginate } from "../model/events/paginate.ts";
import type { Room } from "../model/rooms/room.ts";
import type { RoomEvent } from "../model/events/room_event.ts";
import { firstAfter } from "../model/events/search.ts";
import { canSee } from "../model/rooms/visibility.ts";
import type { SyncJob } from "./sync_job.ts";

/** How many events a timeline has at most if the filter does not say. */
const DEFAULT_LIMIT = 10;

/** A piece of a room's history. */
export interface Timeline {
  /** The events, oldest first. */
  readonly events: readonly RoomEvent[];
  /** Whether events between the last sync and these were left out. */
  readonly limited: boolean;
  /** The stream position before the first event. */
  readonly start: number;
}

/** The latest events after position `from`, up to `until`, that pass the filter and may be seen. */
export function timelineOf(job: SyncJob, room: Room, from: number, until: number): Timeline {
  const { filter, user } = job;
  if (filter.timeline.blocksAll) {
    return { events: [], limited: false, start: until };
  }
  const limit = Math.max(1, filter.timeline.limit ?? DEFAULT_LIMIT);
  const events: RoomEvent[] = [];
  let limited = false;
  for (let i = firstAfter(room.events, until) - 1; i >= 0; i--) {
    const event = room.events[i];
    if (event === undefined || event.position <= from) break;
    if (!filter.timeline.allows(event) || !filter.timeline.allowsRelations(room, event)) continue;
    if (!canSee(room, user, event)) continue;
    if (events.length === limit) {
      limited = true;
      break;
    }
    events.push(event);
  }
  const { showAgain = 0 } = job.server.settings.quirks;
  if (showAgain > 0 && from > 0 && events.length > 0 && !limited) {
    const allows = (event: RoomEvent): boolean => filter.timeline.allows(event) && canSee(room, user, event);
    events.push(...paginate(room, { forwards: false, from, to: 0, limit: showAgain, allows }));
  }
  events.reverse();
  return { events, limited, start: events[0] === undefined ? until : events[0].position - 1 };
}
