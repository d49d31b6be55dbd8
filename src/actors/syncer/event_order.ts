/**
 * The order in which handlers get what a response tells of a room.
 *
 * @module
 */

import type { MessageEvent, StateEvent, StrippedStateEvent } from "../../types/events/event.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { MemberStateEvent } from "./former_members.ts";
import type { RoomPart } from "./sync_parts.ts";

/** The events of a room as they are delivered; what the timeline tells, the state does not tell once more. */
export function inOrder(
  { state, filled, timeline }: Pick<RoomPart, "state" | "filled" | "timeline">,
): readonly (MessageEvent | StateEvent | StrippedStateEvent)[] {
  const after = filled.length === 0 ? timeline : [...filled, ...timeline];
  if (state.length === 0) return after;
  if (after.length === 0) return state;
  const told: (string | undefined)[] = [];
  after.forEach((event) => {
    if (event.state_key !== undefined) told.push(event.event_id);
  });
  if (told.length === 0) return [...state, ...after]; // the rule
  const isTold = among(told);
  return [...state.filter(({ event_id }) => !isTold(event_id)), ...after];
}

/** Up to so many IDs are compared sooner than a set is asked, which needs the hash of a long ID. */
const FEW = 8;

/** Tells whether an ID is among some. */
function among(ids: readonly (string | undefined)[]): (id: string | undefined) => boolean {
  if (ids.length <= FEW) return (id) => ids.includes(id);
  const set = new Set(ids);
  return (id) => set.has(id);
}

/** What state events lead to: of each piece of state the last. */
export function asState(changes: readonly MemberStateEvent[]): MemberStateEvent[] {
  const latest = new Map<string, MemberStateEvent>();
  for (const event of changes) {
    event.source = event.source & ~SyncStream.TIMELINE | SyncStream.STATE;
    latest.set(JSON.stringify([event.type, event.state_key]), event);
  }
  return [...latest.values()];
}
