/**
 * The latest events of a room that the server has shown: what it shows again is not delivered
 * again.
 *
 * @module
 */

import type { MatrixEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";

/**
 * Names of a room's latest events, from old to new, each between spaces. One string is kept, copied
 * and looked through in a fraction of the time of a list, and takes a fraction of its memory.
 */
export type ShownEvents = string;

/** What has been shown of a room. */
export interface ShownRoom {
  readonly roomId: RoomID;
  /** Its latest events. */
  readonly shown: ShownEvents;
  /** Those of them that are new: their names, with a space between two. */
  readonly added: string;
}

/** How many events are remembered of a room: what servers show again is what came last. */
const REMEMBERED = 64;
/**
 * Since room version 3 an ID is a hash, of which a part distinguishes events: 12 characters of 6
 * bits.
 */
const HASH_LENGTH = 44;
const PART = 12;
/** Names may be longer, in old rooms: fewer are remembered then. */
const MAX_LENGTH = REMEMBERED * (PART + 1) + 1;
const NOTHING: ReadonlySet<never> = new Set();

/** The events that have been shown, among others, or that come twice among these. */
export function shownAmong<Event extends MatrixEvent>(
  shown: ShownEvents,
  events: readonly Event[],
): ReadonlySet<Event> {
  if (events.length < 2 && (shown === "" || events.length === 0)) return NOTHING;
  const names = new Set<string>();
  const found = events.filter((event) => {
    const name = nameOf(event);
    return hasName(shown, name) || names.size === names.add(name).size;
  });
  return found.length === 0 ? NOTHING : new Set(found);
}

/** Whether an event has been shown. That says nothing of the events around it. */
export function wasShown(shown: ShownEvents, event: MatrixEvent): boolean {
  return shown !== "" && hasName(shown, nameOf(event));
}

/**
 * The names of events, with a space between two: of the latest, if there are more than are
 * remembered.
 */
export function namesOf(events: readonly MatrixEvent[]): string {
  const [first, second] = events;
  if (first === undefined) return "";
  return second === undefined ? nameOf(first) : events.slice(-REMEMBERED).map(nameOf).join(" ");
}

/**
 * Remembers more events, in the order in which they were shown, and forgets the oldest if there are
 * too many.
 */
export function withShown(shown: ShownEvents, names: string): ShownEvents {
  if (names === "") return shown;
  const all = `${shown === "" ? " " : shown}${names} `;
  const excess = all.length - MAX_LENGTH;
  return excess <= 0 ? all : all.slice(all.indexOf(" ", excess));
}

function hasName(shown: ShownEvents, name: string): boolean {
  return shown.includes(` ${name} `);
}

function nameOf(event: MatrixEvent): string {
  const id = (event as { readonly event_id?: string }).event_id ?? "";
  return id.length === HASH_LENGTH && !id.includes(":") ? id.slice(-PART) : id.replaceAll(/[ ;]/g, "_");
}
