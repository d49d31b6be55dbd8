/**
 * What handlers get of a sync response, in order.
 *
 * Over 300 lines because what handlers get, and what they do not, is decided in one place.
 *
 * @module
 */

import { encryptionOf } from "../../types/events/encryption_info.ts";
import { Membership } from "../../types/enums.ts";
import {
  type MatrixEvent,
  type MessageEvent,
  type StateEvent,
  type StrippedStateEvent,
  SyncStream,
} from "../../types/events/event.ts";
import type { EventID, SyncToken, UserID } from "../../types/ids.ts";
import type { UndecryptableEvent } from "../../types/events/internal_event.ts";
import { InternalEventType } from "../../types/events/event_type.ts";
import {
  type CommittedSync,
  type FormerRoom,
  type InternalDelivery,
  membershipIn,
  prevMembership,
  type RoomBatch,
  type SyncBatch,
} from "../store/mod.ts";
import {
  isMember,
  type MemberStateEvent,
  type RoomPart,
  stateKeyOf,
  type SyncParts,
  type Undecryptable,
} from "./sync_parts.ts";
import { FormerMembers, membershipChange } from "./membership.ts";
import type { JsonObject } from "../../types/json.ts";
import type { CatchUp } from "../../store/device/mod.ts";

/** What is known of a sync beside its response. */
export interface SyncContext {
  /** The acting user. */
  readonly own: UserID;
  /** Whether the request had no token, and the client none before. */
  readonly initial: boolean;
  /** Whether the request had no token, since the server does not know it any more. Absent: false. */
  readonly anew?: boolean;
  /** Whether changes of device lists may be missing. Absent: false. */
  readonly isNew?: boolean;
  /** Whether handlers may have got the response before, in a process that has ended since. */
  readonly repeated: boolean;
  /**
   * Whether the events of earlier responses have been handled, or will be: what comes again is not
   * handled again.
   */
  readonly handledBefore: boolean;
  /** Why responses may show what was delivered before, as of this one. */
  readonly again?: CatchUp;
  /** The token of the response before, if that may still be on its way to the Store. */
  readonly after?: SyncToken;
  /**
   * Which members the filter lets through: all, those of the timeline (`lazy`), or it is unknown
   * which (`some`).
   */
  readonly members: "all" | "lazy" | "some";
  /** Which messages count that come in clear into an encrypted room; undefined: all do. */
  readonly acceptClear: ((event: MessageEvent) => boolean) | undefined;
  /**
   * If the response comes again as it came: the events by which rooms became
   * encrypted in those before that do.
   */
  readonly encryptions?: Set<string>;
  /** Whether to store which events were shown: they can come again after a restart. */
  readonly outlives: boolean;
  /** Whether the response counts as handled when it is committed. */
  readonly atOnce?: boolean;
  /**
   * Whether to drop what happened before the start, and to deliver the state that it led to in its
   * place.
   */
  readonly dropTimeline: boolean;
}

/**
 * What handlers get of a response.
 *
 * @param known What the Store had of its rooms before, and whether it tells of key counts and of devices.
 *   Default: it does.
 */
export function syncBatch(
  parts: SyncParts,
  context: SyncContext,
  { former, crashes, tellsKeys = true }: CommittedSync & { readonly tellsKeys?: boolean },
): SyncBatch {
  const { nextBatch, accountData, presence, toDevice, rooms, undecryptable, encryptedRooms } = parts;
  const beside = { context, undecryptable, encryptedRooms };
  return {
    nextBatch,
    crashes,
    internal: tellsKeys ? keyEvents(parts) : NONE,
    global: [...accountData, ...presence, ...toDevice],
    rooms: rooms.map((room, index) => roomBatch(room, { ...beside, former: former[index] })),
  };
}

function keyEvents({ oneTimeKeyCounts, unusedFallbackTypes, deviceLists }: SyncParts): InternalDelivery[] {
  const { signed_curve25519 = 0, curve25519 = 0 } = oneTimeKeyCounts;
  return [
    {
      type: InternalEventType.DEVICE_OTK_COUNT,
      data: { signed_curve25519, curve25519, unusedFallbackTypes },
    },
    { type: InternalEventType.DEVICE_LISTS, data: deviceLists },
  ];
}

/**
 * The changes of state in a room's part, in order. What was shown before changes nothing,
 * in a room whose state is known since; in any room, what the same timeline shows a second time does not.
 */
export function stateChanges(
  { state, stateAfter, timeline, shown, news }: RoomPart,
): readonly (StateEvent | StrippedStateEvent)[] {
  if (stateAfter || timeline.length === 0) return state;
  const changes = timeline.filter((event): event is StateEvent => event.state_key !== undefined);
  if (changes.length === 0) return state;
  if (shown.size === 0) return [...state, ...changes];
  const isKnown = news?.before.isJoined === true;
  const first = new Map(changes.toReversed().map((event) => [event.event_id, event]));
  return [
    ...state,
    ...changes.filter((event) => isKnown ? !shown.has(event) : first.get(event.event_id) === event),
  ];
}

/** What is known of a room beside its part. */
interface RoomView {
  readonly context: SyncContext;
  readonly undecryptable: SyncParts["undecryptable"];
  readonly encryptedRooms: SyncParts["encryptedRooms"];
  readonly former: FormerRoom | undefined;
}

function roomBatch(room: RoomPart, view: RoomView): RoomBatch {
  const { roomId, ephemeral, accountData, asItIs } = room;
  if (asItIs !== undefined && !view.context.initial) {
    const context = { ...view.context, initial: true, dropTimeline: asItIs === "dropped" };
    return roomBatch(room, { ...view, context });
  }
  const { context, undecryptable, former } = view;
  const events = context.dropTimeline ? asState(stateChanges(room)) : inOrder(room);
  const remarks = new Map<number, InternalDelivery>();
  const unread = context.acceptClear && unacceptable(room, events, context.acceptClear, view);
  for (const index of unread ?? []) {
    const event = events[index] as MessageEvent;
    remarks.set(index, clearRemark(event));
  }
  let members: FormerMembers | undefined;
  const first = isNew(room, view) ? events.length - room.filled.length - room.timeline.length : 0;
  for (let index = first; index < events.length; index++) {
    const event = events[index] as MatrixEvent; // the index says that there is one
    const reason = undecryptable.get(event);
    if (reason !== undefined) remarks.set(index, undecryptableRemark(event, reason));
    if (!isMember(event)) continue;
    members ??= new FormerMembers(events, room.shown, former?.members);
    const change = changeOf(event, index, { context, former, members, news: room.news });
    if (change !== undefined) remarks.set(index, change);
  }
  const ignored = room.shown.size === 0 ? unread : withoutShown(room, { events, unread, remarks });
  const gap = room.gap && { type: InternalEventType.GAP, data: room.gap };
  const sticky = room.sticky.length === 0 ? NONE : stickyEvents(room, events, view);
  return { roomId, gap, events, ignored, remarks, sticky, ephemeral, accountData };
}

const NONE: readonly never[] = [];

/** An event is sticky for an hour at most. */
const MAX_STICKY = 3_600_000;

/** What is said of the sticky events that are not in the timeline, if they are accepted and can be read. */
function stickyEvents(
  room: RoomPart,
  events: readonly MatrixEvent[],
  view: RoomView,
): readonly InternalDelivery[] {
  const { context: { acceptClear }, undecryptable } = view;
  const refused = acceptClear === undefined
    ? undefined
    : unacceptable(room, [...events, ...room.sticky], acceptClear, view);
  return room.sticky.map((event, index) => {
    const reason = undecryptable.get(event);
    if (reason !== undefined) return undecryptableRemark(event, reason);
    if (refused?.has(events.length + index)) return clearRemark(event as MessageEvent);
    const left = (event.unsigned as JsonObject | undefined)?.msc4354_sticky_duration_ttl_ms;
    const bounded = typeof left === "number" ? Math.min(Math.max(left, 0), MAX_STICKY) : undefined;
    return {
      type: InternalEventType.STICKY,
      data: { event, left: bounded, source: SyncStream.INTERNAL },
    };
  });
}

function undecryptableRemark(event: MatrixEvent, reason: Undecryptable): InternalDelivery {
  const data = { event: event as UndecryptableEvent["event"], ...reason, source: remarkSource(event) };
  return { type: InternalEventType.UNDECRYPTABLE, data };
}

function clearRemark(event: MessageEvent): InternalDelivery {
  return { type: InternalEventType.UNENCRYPTED, data: { event, source: remarkSource(event) } };
}

/** The events that are not delivered: those that were shown before, and their remarks, too. */
function withoutShown(
  { shown }: RoomPart,
  { events, unread, remarks }: {
    readonly events: readonly MatrixEvent[];
    readonly unread: ReadonlySet<number> | undefined;
    readonly remarks: Map<number, InternalDelivery>;
  },
): ReadonlySet<number> {
  const ignored = new Set(unread);
  for (const [index, event] of events.entries()) {
    if (!shown.has(event)) continue;
    ignored.add(index);
    remarks.delete(index);
  }
  return ignored;
}

/** A remark goes to the handlers that want such an event: of history, or of the own users. */
function remarkSource({ source }: MatrixEvent): SyncStream {
  return SyncStream.INTERNAL | source & (SyncStream.HISTORY | SyncStream.OWN);
}

/**
 * Whether a room came with the initial sync: its state says how things are, and not what has
 * changed.
 */
function isNew({ membership }: RoomPart, { context, former }: RoomView): boolean {
  return context.initial && !context.dropTimeline && membership === Membership.JOIN &&
    former?.membership !== Membership.JOIN;
}

/**
 * The indexes of messages that came in clear into an encrypted room and are not accepted. A room is
 * encrypted from its encryption event on. What came before that event is still accepted when both
 * come again, since they have not been handled.
 */
function unacceptable(
  { roomId, shown }: RoomPart,
  events: readonly MatrixEvent[],
  acceptClear: NonNullable<SyncContext["acceptClear"]>,
  { context: { repeated, encryptions }, encryptedRooms, former }: RoomView,
): Set<number> {
  const ignored = new Set<number>();
  const began = repeated &&
    events.some((event) =>
      isEncryption(event) && event.event_id === former?.encryptedBy && !shown.has(event)
    );
  const encryptedBy = former?.encryptedBy;
  const isEarlier = encryptions !== undefined && encryptedBy !== undefined && !encryptions.has(encryptedBy);
  // The room's own record may have been removed, by who has the disk: it is not all that says so.
  let encrypted = (former?.encrypted === true || encryptedRooms.has(roomId)) && !began && !isEarlier;
  events.forEach((event, index) => {
    if (isEncryption(event)) {
      encrypted = true;
      encryptions?.add(event.event_id);
    } else if (encrypted && isClear(event) && !acceptClear(event)) ignored.add(index);
  });
  return ignored;
}

function isEncryption(event: MatrixEvent): event is StateEvent {
  return event.type === "m.room.encryption" && stateKeyOf(event) === "";
}

/** Whether an event is a message that came in clear. */
function isClear(event: MatrixEvent): event is MessageEvent {
  return "event_id" in event && event.state_key === undefined && event.type !== "m.room.encrypted" &&
    encryptionOf(event) === undefined;
}

/**
 * The membership change that a member event stands for, if there is one. State often says only how
 * things are: of a new room, or of a member whom the server had left out so far.
 *
 * @param index Its place among the room's events.
 */
function changeOf(
  event: MemberStateEvent,
  index: number,
  { context, former, members, news }: Pick<RoomView, "context" | "former"> & Pick<RoomPart, "news"> & {
    readonly members: FormerMembers;
  },
): InternalDelivery | undefined {
  const { source, state_key, content } = event;
  if ((source & (SyncStream.INVITED_ROOM | SyncStream.KNOCKED_ROOM)) !== 0) return membershipChange(event);
  const isTimeline = (source & SyncStream.TIMELINE) !== 0;
  const isOwn = state_key === context.own;
  // It was reported when it came. Here it stands in the history of a room that the user is in by
  // now.
  if (isOwn && content.membership === Membership.INVITE) return undefined;
  const prev = isTimeline ? prevMembership(event) : undefined;
  if (prev !== undefined) return membershipChange(event, prev);
  const isNews = isTimeline ||
    (isOwn ? !context.initial : former?.membership === Membership.JOIN && !context.dropTimeline);
  if (!isNews) return undefined;
  const known = members.before(index, state_key);
  // What is stored may be newer: the response was committed, and comes again.
  if (isTimeline && isOwn && isEntryIn(news, event)) return membershipChange(event);
  // The stored event may be this very event: it came before, or was stored when it was sent.
  const isKept = known?.event_id !== undefined && known.event_id === event.event_id;
  if (isTimeline) return membershipChange(event, isKept ? undefined : membershipIn(known));
  if (!isOwn && known === undefined && context.members !== "all") return undefined;
  const was = isOwn && isKept && context.repeated ? undefined : membershipIn(known);
  return was === content.membership ? undefined : membershipChange(event, was);
}

/** Whether an own join is one with which the user came into the room. */
function isEntryIn(news: RoomPart["news"], { event_id }: MemberStateEvent): boolean {
  if (news === undefined || event_id === undefined) return false;
  const { before: { entries }, entry } = news;
  return entry === event_id || entries.includes(event_id as EventID);
}

/**
 * The events of a room in the order of delivery. State that is in the timeline, too, is left out.
 */
function inOrder(
  { state, filled, timeline }: Pick<RoomPart, "state" | "filled" | "timeline">,
): readonly (MessageEvent | StateEvent | StrippedStateEvent)[] {
  const after = filled.length === 0 ? timeline : [...filled, ...timeline];
  if (state.length === 0) return after;
  if (after.length === 0) return state;
  const inTimeline: (string | undefined)[] = [];
  after.forEach((event) => {
    if (event.state_key !== undefined) inTimeline.push(event.event_id);
  });
  if (inTimeline.length === 0) return [...state, ...after]; // the usual case
  const isRepeated = among(inTimeline);
  return [...state.filter(({ event_id }) => !isRepeated(event_id)), ...after];
}

/** Up to this many IDs, comparing them is faster than a set, which has to hash long IDs. */
const FEW = 8;

/** A function that says whether an ID is among some. */
function among(ids: readonly (string | undefined)[]): (id: string | undefined) => boolean {
  if (ids.length <= FEW) return (id) => ids.includes(id);
  const set = new Set(ids);
  return (id) => set.has(id);
}

/** The state that changes lead to: the last event of each piece of state. */
function asState(changes: readonly MemberStateEvent[]): MemberStateEvent[] {
  const latest = new Map<string, MemberStateEvent>();
  for (const event of changes) {
    event.source = event.source & ~SyncStream.TIMELINE | SyncStream.STATE;
    latest.set(JSON.stringify([event.type, event.state_key]), event);
  }
  return [...latest.values()];
}
