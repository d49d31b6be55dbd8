/**
 * Who is in a room: what member events change, and which events happened while the user was there (the
 * others are history).
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import {
  type MatrixEvent,
  type StateEvent,
  type StrippedStateEvent,
  SyncStream,
} from "../../types/events/event.ts";
import type { EventID, UserID } from "../../types/ids.ts";
import { isMember, type MemberStateEvent, type RoomPart, type TimelineEvent } from "./sync_parts.ts";
import { type InternalDelivery, lookAt, prevMembership, type RememberedRoom } from "../store/mod.ts";
import type { MemberEvent } from "../../types/events/internal_event.ts";
import { InternalEventType } from "../../types/events/event_type.ts";

/** What is known of a room when its part comes. */
export interface StayView {
  /** The acting user. */
  readonly own: UserID;
  readonly before: RememberedRoom;
}

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
 * The index of the event with which the user came into the room last, among events from new to old; -1: there
 * is none. A server can show it twice, or leave out what the user was before a change of the profile: the
 * oldest counts before which the user does not leave.
 */
export function entryAmong(newestFirst: readonly MatrixEvent[], view: StayView): number {
  let found = -1;
  for (const [index, event] of newestFirst.entries()) {
    if (!isOwnMember(event, view.own)) continue;
    if (isEntry(event, view)) found = index;
    else if (found >= 0 && event.content.membership !== Membership.JOIN) break;
  }
  return found;
}

/**
 * Marks what is history in a room's part, by `SyncStream.HISTORY` in its source. An own member event that was
 * shown before says nothing of where the user was when the others were sent.
 *
 * @returns The own join with which the user came into the room, if that is news.
 */
export function markHistory(room: RoomPart, view: StayView): EventID | undefined {
  // The user is not in the room.
  if ((room.base & (SyncStream.JOINED_ROOM | SyncStream.LEFT_ROOM)) === 0) return undefined;
  const { own, before } = view;
  const isNew = !before.isJoined;
  const events = room.filled.length === 0 ? room.timeline : [...room.filled, ...room.timeline];
  const isMove = (event: TimelineEvent): event is TimelineEvent & MemberStateEvent =>
    isOwnMember(event, own) && !room.shown.has(event);
  const isAgain = (event: StateEvent | StrippedStateEvent) => isEntered(event, before);
  if (!isNew && !events.some(isMove) && !room.state.some(isAgain)) return undefined; // the usual case
  const moves = events.filter(isMove);
  const first = beginOf(moves, view);
  const begin = events.findIndex((event) => event === first);
  let isIn = wasIn(first ?? moves[0], view);
  const entry = moves.some((event) => isEntry(event, view)) ? undefined : entryIn(room.state, view);
  const isFirst = first !== undefined || (before.shown === "" && isEntered(entry, before));
  if (isNew || !isIn || isFirst) {
    room.state.forEach((event) => {
      if (event !== entry) event.source |= SyncStream.HISTORY;
    });
  }
  let entered = isNew ? entry?.event_id : undefined;
  for (const [index, event] of events.entries()) {
    if (index < begin) event.source |= SyncStream.HISTORY;
    else if (!isMove(event)) {
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
 * The own member event from which on it matters whether the user was in the room; undefined: it does from the
 * start. What stands before it was history when nothing of the room was handled.
 */
function beginOf<Move extends MemberStateEvent>(
  moves: readonly Move[],
  { before }: StayView,
): Move | undefined {
  if (before.shown !== "") return undefined;
  // What stands before a join that was committed was history then.
  const committed = moves.find((event) => isEntered(event, before));
  if (committed !== undefined || before.isJoined) return committed;
  let last: Move | undefined;
  let isIn = false;
  for (const event of moves) {
    const isJoin = event.content.membership === Membership.JOIN;
    const prev = prevMembership(event) ?? (isIn ? Membership.JOIN : Membership.LEAVE);
    if (isJoin && prev !== Membership.JOIN) last = event;
    isIn = isJoin;
  }
  return last;
}

/** Whether the user was in the room before their first member event among some. */
function wasIn(first: MemberStateEvent | undefined, { before }: StayView): boolean {
  if (first === undefined) return true; // the own join stands before
  const prev = prevMembership(first);
  return prev === undefined ? before.isJoined && !isEntered(first, before) : prev === Membership.JOIN;
}

function isEntered(event: { readonly event_id?: EventID } | undefined, { entries }: RememberedRoom): boolean {
  return entries.some((entry) => entry === event?.event_id);
}

/** The own join in a room's state, if it was not shown: it stands in front of the timeline. */
function entryIn(state: RoomPart["state"], { own, before }: StayView): MemberStateEvent | undefined {
  const entry = state.find((event): event is MemberStateEvent =>
    isOwnMember(event, own) && event.content.membership === Membership.JOIN
  );
  return entry !== undefined && lookAt(before.shown, [entry]).again.size > 0 ? undefined : entry;
}

/**
 * The event that stands for a change of membership.
 *
 * `INVITE` stands for an invitation of the own user, and for nothing else: its handlers may join.
 * `USER_INVITED` stands for an invitation of another user to a room that the own user is in.
 *
 * @param event A state event.
 * @param former What the user was to the room before.
 * @returns Undefined if nothing changed, or it is no member event.
 */
export function membershipChange(
  event: StateEvent | StrippedStateEvent,
  former: Membership = Membership.LEAVE,
): InternalDelivery | undefined {
  const type = changeType(event, former);
  return type && { type, data: event as MemberEvent };
}

type MembershipEventType = Extract<InternalDelivery, { data: MemberEvent }>["type"];

function changeType(
  { content, sender, state_key, source }: StateEvent | StrippedStateEvent,
  former: Membership,
): MembershipEventType | undefined {
  const bySelf = sender === state_key;
  switch (content.membership) {
    case Membership.JOIN:
      return former === Membership.JOIN ? InternalEventType.PROFILE_CHANGE : InternalEventType.JOIN;
    case Membership.INVITE:
      if ((source & SyncStream.INVITED_ROOM) !== 0) return InternalEventType.INVITE;
      return former === Membership.INVITE ? undefined : InternalEventType.USER_INVITED;
    case Membership.KNOCK:
      return former === Membership.KNOCK ? undefined : InternalEventType.KNOCK;
    case Membership.BAN:
      return former === Membership.BAN ? undefined : InternalEventType.BAN;
    case Membership.LEAVE:
      if (former === Membership.LEAVE) return undefined;
      if (former === Membership.BAN) return InternalEventType.UNBAN;
      if (former === Membership.INVITE) {
        return bySelf ? InternalEventType.REJECT_INVITE : InternalEventType.DISINVITE;
      }
      return bySelf ? InternalEventType.LEAVE : InternalEventType.KICK;
    default:
      return undefined;
  }
}

/** Finds the last member event of a user in front of an event of the room. */
export class FormerMembers {
  readonly #events: readonly MatrixEvent[];
  readonly #shown: ReadonlySet<MatrixEvent>;
  readonly #stored: ReadonlyMap<string, MemberStateEvent> | undefined;
  /** Those of the first events, by user. */
  #earlier: Map<string, MemberStateEvent> | undefined;
  #count = 0;

  /**
   * @param events The room's events, in order.
   * @param shown Those of them that were shown before: what they say is out of date.
   * @param stored What was known before, by user.
   */
  constructor(
    events: readonly MatrixEvent[],
    shown: ReadonlySet<MatrixEvent>,
    stored: ReadonlyMap<string, MemberStateEvent> | undefined,
  ) {
    this.#events = events;
    this.#shown = shown;
    this.#stored = stored;
  }

  /**
   * The member event of a user before the event at an index, which may not be less than that of the
   * call before.
   */
  before(index: number, userId: string): MemberStateEvent | undefined {
    const earlier = this.#earlier ??= new Map();
    for (; this.#count < index; this.#count++) {
      const event = this.#events[this.#count];
      if (event !== undefined && isMember(event) && !this.#shown.has(event)) {
        earlier.set(event.state_key, event);
      }
    }
    return earlier.get(userId) ?? this.#stored?.get(userId);
  }
}
