/**
 * Which events of a room happened while the user was in it: the others are history.
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import type { EventID, UserID } from "../../types/ids.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import { isMember, type MemberStateEvent } from "./sync_parts.ts";
import type { TimelineEvent } from "./gap_filler.ts";
import { prevMembership } from "./membership_change.ts";
import type { RememberedRoom } from "../store/store_protocol.ts";
import { isOldest, shownAmong } from "./shown_events.ts";
import type { RoomPart } from "./sync_parts.ts";

/** What is known of a room when its part comes. */
export interface StayView {
  /** The acting user. */
  readonly own: UserID;
  /** What was remembered of the room before. */
  readonly before: RememberedRoom;
}

/** Whether an event is the user's own member event. */
export function isOwnMember(event: MatrixEvent, own: UserID): event is MemberStateEvent {
  return isMember(event) && event.state_key === own;
}

/** Whether an event is the one with which the user comes into the room. */
export function isEntry(event: MatrixEvent, { own, before }: StayView): boolean {
  if (!isOwnMember(event, own) || event.content.membership !== Membership.JOIN) return false;
  const prev = prevMembership(event);
  return prev === undefined ? !before.isJoined : prev !== Membership.JOIN;
}

/**
 * Marks what is history in a room's part, by `SyncStream.HISTORY` in its source, and what is older
 * than what is remembered as shown.
 *
 * @returns The own join with which the user came into the room, if that is news.
 */
export function markHistory(room: RoomPart, view: StayView): EventID | undefined {
  if ((room.base & (SyncStream.JOINED_ROOM | SyncStream.LEFT_ROOM)) === 0) return undefined; // the user is not in the room
  const { own, before } = view;
  const isNew = !before.isJoined;
  const events = room.filled.length === 0 ? room.timeline : [...room.filled, ...room.timeline];
  const isPlain = !isNew && room.shown.size === 0 && !events.some((event) => isOwnMember(event, own));
  if (isPlain) return undefined; // the usual case
  const begin = beginOf(events, room, view);
  let isIn = wasIn(events.slice(begin), view);
  const entry = events.some((event) => isEntry(event, view)) ? undefined : entryIn(room.state, view);
  const isFirst = before.shown === "" && (begin > 0 || isEntered(entry, before));
  if (isNew || !isIn || isFirst) {
    room.state.forEach((event) => {
      if (event !== entry) event.source |= SyncStream.HISTORY;
    });
  }
  let entered = isNew ? entry?.event_id : undefined;
  for (const [index, event] of events.entries()) {
    if (index < begin) event.source |= SyncStream.HISTORY;
    else if (!isOwnMember(event, own)) {
      if (!isIn) event.source |= SyncStream.HISTORY;
    } else {
      const isJoin = event.content.membership === Membership.JOIN;
      if (isJoin && !isIn) entered = event.event_id;
      // If the user comes in at the end, earlier invitations are history.
      if (!isJoin && !isIn && room.membership === Membership.JOIN) event.source |= SyncStream.HISTORY;
      isIn = isJoin;
    }
  }
  return entered as EventID | undefined;
}

/**
 * The index from which on it matters whether the user was in the room: what stands before is old
 * anyway.
 */
function beginOf(events: readonly TimelineEvent[], room: RoomPart, view: StayView): number {
  const { before } = view;
  if (before.shown !== "") {
    const oldest = room.shown.size === 0 ? -1 : events.findIndex((event) => isOldest(before.shown, event));
    if (oldest > 0) room.shown = new Set([...room.shown, ...events.slice(0, oldest)]);
    return Math.max(oldest, 0);
  }
  // Nothing of the room has been handled: what stands before a join that was committed was history
  // then.
  const first = events.findIndex((event) => isEntered(event, before));
  if (first >= 0) return first;
  return before.isJoined ? 0 : Math.max(events.findLastIndex((event) => isEntry(event, view)), 0);
}

/** Whether the user was in the room before some events, according to them. */
function wasIn(events: readonly TimelineEvent[], { own, before }: StayView): boolean {
  const first = events.find((event) => isOwnMember(event, own));
  if (first === undefined) return true; // the own join stands before
  const prev = prevMembership(first);
  return prev === undefined ? before.isJoined && !isEntered(first, before) : prev === Membership.JOIN;
}

function isEntered(event: MatrixEvent | undefined, { entries }: RememberedRoom): boolean {
  const { event_id } = (event ?? {}) as { readonly event_id?: EventID };
  return event_id !== undefined && entries.includes(event_id);
}

/** The own join in a room's state, if it was not shown: it stands in front of the timeline. */
function entryIn(state: RoomPart["state"], { own, before }: StayView): MemberStateEvent | undefined {
  const entry = state.find((event): event is MemberStateEvent =>
    isOwnMember(event, own) && event.content.membership === Membership.JOIN
  );
  return entry !== undefined && shownAmong(before.shown, [entry]).size > 0 ? undefined : entry;
}
