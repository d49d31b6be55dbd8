/**
 * Walking through the events of a room.
 *
 * @module
 */

import type { Room } from "../rooms/room.ts";
import type { RoomEvent } from "./room_event.ts";
import { firstAfter } from "./search.ts";

/** Which events to collect. */
interface Walk {
  /** Whether to walk from old to new. */
  readonly forwards: boolean;
  /** The stream position to start at; the event there belongs to what lies behind. */
  readonly from: number;
  /** The stream position to stop at. */
  readonly to: number;
  /** How many events to collect at most. */
  readonly limit: number;
  /** Which events count. */
  readonly allows: (event: RoomEvent) => boolean;
}

/** Collects events in the order of the walk. */
export function paginate(room: Room, { forwards, from, to, limit, allows }: Walk): RoomEvent[] {
  const events: RoomEvent[] = [];
  const step = forwards ? 1 : -1;
  for (let i = firstAfter(room.events, from) - (forwards ? 0 : 1); events.length < limit; i += step) {
    const event = room.events[i];
    if (event === undefined || (forwards ? event.position > to : event.position <= to)) break;
    if (allows(event)) events.push(event);
  }
  return events;
}
