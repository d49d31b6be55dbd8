/**
 * What a sync response means for the Store, and for handlers.
 *
 * @module
 */

import { Membership } from "../types/enums.ts";
import type { MatrixEvent, MessageEvent, StateEvent, StrippedStateEvent } from "../types/event.ts";
import type { UserID } from "../types/ids.ts";
import type { UndecryptableEvent } from "../types/internal_event.ts";
import { InternalEventType } from "../types/internal_event_type.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { SyncStream } from "../types/sync_stream.ts";
import type { CryptoInput } from "../crypto/engine_protocol.ts";
import type { InternalDelivery, RoomBatch, SyncBatch } from "./dispatcher_protocol.ts";
import { membershipChange } from "./membership_change.ts";
import type { CommittedSync, FormerRoom, RoomChange, SyncChange } from "./store_protocol.ts";
import type { RoomPart, SyncParts } from "./sync_parts.ts";

/** What is known of a sync beside its response. */
export interface SyncContext {
  /** The acting user. */
  readonly own: UserID;
  /** Whether the request had no token. */
  readonly initial: boolean;
  /** Whether handlers may have got the response before, in a process that has ended since. */
  readonly repeated: boolean;
  /** Which members the filter lets through: all, those who have something to do with the timeline, or nobody knows which. */
  readonly members: "all" | "lazy" | "some";
  /** Which messages count that come in clear into an encrypted room; undefined: all do. */
  readonly acceptClear: ((event: MessageEvent) => boolean) | undefined;
  /** Whether what happened before the start is not to be told: the state that it led to is delivered in its place. */
  readonly dropTimeline: boolean;
}

/** What Crypto has to know of a response. */
export function cryptoInput(parts: SyncParts, { initial, members }: SyncContext): CryptoInput {
  const { nextBatch, toDevice, deviceLists, oneTimeKeyCounts, unusedFallbackTypes, rooms } = parts;
  const timelines = rooms.flatMap(({ filled, timeline }) => [...filled, ...timeline]);
  return {
    nextBatch,
    initial,
    toDevice,
    deviceLists,
    oneTimeKeyCounts,
    unusedFallbackTypes,
    state: rooms.map((room) => ({
      roomId: room.roomId,
      events: stateChanges(room) as StateEvent[],
      limited: room.limited,
      lossy: isLossy(room, members),
    })),
    encrypted: timelines.filter((event) =>
      event.type === "m.room.encrypted" && event.state_key === undefined && !isRedacted(event)
    ) as CryptoInput["encrypted"],
  };
}

/** Whether an event was emptied: of an encrypted one nothing is left to be decrypted. */
function isRedacted({ unsigned }: MatrixEvent & { readonly unsigned?: unknown }): boolean {
  return isJsonObject(unsigned) && isJsonObject(unsigned.redacted_because);
}

/** What the Store has to keep of a response. */
export function syncChange(
  { nextBatch, rooms }: SyncParts,
  { members, own, repeated }: SyncContext,
): SyncChange {
  return {
    nextBatch,
    repeated,
    rooms: rooms.map((room): RoomChange => ({
      roomId: room.roomId,
      membership: membershipOf(room, own),
      state: stateChanges(room),
      complete: members === "all" && room.timeline.length + room.state.length > 0,
      lossy: isLossy(room, members),
    })),
  };
}

/** Whether members may have come and gone without being in the room's part. */
function isLossy({ limited }: RoomPart, members: SyncContext["members"]): boolean {
  return members === "some" || (members === "lazy" && limited);
}

/** What handlers get of a response, once the Store has told what members were before. */
export function syncBatch(
  parts: SyncParts,
  context: SyncContext,
  { former, crashes }: CommittedSync,
): SyncBatch {
  const { nextBatch, accountData, presence, toDevice, rooms, undecryptable } = parts;
  return {
    nextBatch,
    crashes,
    internal: keyEvents(parts),
    global: [...accountData, ...presence, ...toDevice],
    rooms: rooms.map((room, index) => roomBatch(room, { context, undecryptable, former: former[index] })),
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

/** The state that a room's part leads to, in order. */
function stateChanges(
  { state, stateAfter, timeline }: RoomPart,
): readonly (StateEvent | StrippedStateEvent)[] {
  if (stateAfter || timeline.length === 0) return state;
  const changes = timeline.filter((event): event is StateEvent => event.state_key !== undefined);
  return changes.length === 0 ? state : [...state, ...changes];
}

/** What a room's part is seen by. */
interface RoomView {
  readonly context: SyncContext;
  readonly undecryptable: SyncParts["undecryptable"];
  readonly former: FormerRoom | undefined;
}

function roomBatch(room: RoomPart, view: RoomView): RoomBatch {
  const { roomId, ephemeral, accountData } = room;
  const { context, undecryptable, former } = view;
  const events = context.dropTimeline ? asState(stateChanges(room)) : inOrder(room);
  const remarks = new Map<number, InternalDelivery>();
  const ignored = unacceptable(events, view);
  for (const index of ignored) {
    const data = { event: events[index] as MessageEvent };
    remarks.set(index, { type: InternalEventType.UNENCRYPTED, data });
  }
  const members = new Map(former?.members);
  for (const [index, event] of events.entries()) {
    const reason = undecryptable.get(event);
    if (reason !== undefined) {
      const data = { event: event as UndecryptableEvent["event"], ...reason };
      remarks.set(index, { type: InternalEventType.UNDECRYPTABLE, data });
    }
    if (!isMember(event)) continue;
    const change = changeOf(event, members.get(event.state_key), view);
    if (change !== undefined) remarks.set(index, change);
    members.set(event.state_key, event);
  }
  const gap = gapOf(room, view);
  return { roomId, gap, events: [...events, ...ephemeral, ...accountData], ignored, remarks };
}

/**
 * The messages, by their index, that came in clear into an encrypted room and do not count. A room is encrypted from the event
 * that made it so on.
 */
function unacceptable(
  events: readonly MatrixEvent[],
  { context: { acceptClear }, former }: RoomView,
): Set<number> {
  const ignored = new Set<number>();
  if (acceptClear === undefined) return ignored;
  let encrypted = former?.encrypted === true;
  for (const [index, event] of events.entries()) {
    if (isEncryption(event)) encrypted = true;
    else if (encrypted && isClear(event) && !acceptClear(event)) ignored.add(index);
  }
  return ignored;
}

function isEncryption(event: MatrixEvent): boolean {
  return event.type === "m.room.encryption" && "state_key" in event && event.state_key === "";
}

/** Whether an event is a message that nobody encrypted. */
function isClear(event: MatrixEvent): event is MessageEvent {
  return "event_id" in event && event.state_key === undefined && event.type !== "m.room.encrypted" &&
    (event as MessageEvent).encryption === undefined;
}

/** The events of a room as they are delivered; what the timeline tells, the state does not tell once more. */
function inOrder({ state, filled, timeline }: RoomPart): (MessageEvent | StateEvent | StrippedStateEvent)[] {
  if (state.length === 0) return [...filled, ...timeline];
  const told = new Set<string | undefined>([...filled, ...timeline].map(({ event_id }) => event_id));
  return [...state.filter(({ event_id }) => !told.has(event_id)), ...filled, ...timeline];
}

/** What state events lead to: of each piece of state the last. */
function asState(changes: readonly MemberStateEvent[]): MemberStateEvent[] {
  const latest = new Map<string, MemberStateEvent>();
  for (const event of changes) {
    event.source = event.source & ~SyncStream.TIMELINE | SyncStream.STATE;
    latest.set(JSON.stringify([event.type, event.state_key]), event);
  }
  return [...latest.values()];
}

function gapOf(
  { roomId, limited, prevBatch }: RoomPart,
  { context, former }: RoomView,
): InternalDelivery | undefined {
  const isGap = limited && former?.membership === Membership.JOIN && !context.initial &&
    !context.dropTimeline;
  if (!isGap) return undefined;
  return { type: InternalEventType.TIMELINE_GAP, data: { room_id: roomId, prev_batch: prevBatch } };
}

type MemberStateEvent = StateEvent | StrippedStateEvent;

function isMember(event: MatrixEvent): event is MemberStateEvent {
  return event.type === "m.room.member" && "state_key" in event && event.state_key !== undefined;
}

/**
 * What a member event tells, if it tells of a change. State mostly tells only how things are: of a room that is new to us,
 * or of a member whom the server had left out until now.
 *
 * @param known The member event that came before it, as far as we know.
 */
function changeOf(
  event: MemberStateEvent,
  known: MemberStateEvent | undefined,
  { context, former }: RoomView,
): InternalDelivery | undefined {
  const { source, state_key, content } = event;
  if ((source & (SyncStream.INVITED_ROOM | SyncStream.KNOCKED_ROOM)) !== 0) return membershipChange(event);
  // What is kept may be this very event: it came before, or was noted when it was sent.
  const isKept = known?.event_id !== undefined && known.event_id === event.event_id;
  if ((source & SyncStream.TIMELINE) !== 0) {
    return membershipChange(event, prevMembership(event) ?? (isKept ? undefined : membershipIn(known)));
  }
  const isOwn = state_key === context.own;
  const was = isOwn && isKept && context.repeated ? undefined : membershipIn(known);
  const isNews = isOwn ? !context.initial : former?.membership === Membership.JOIN && !context.dropTimeline &&
    (known !== undefined || context.members === "all");
  return isNews && was !== content.membership ? membershipChange(event, was) : undefined;
}

function prevMembership({ unsigned }: MemberStateEvent): Membership | undefined {
  return isJsonObject(unsigned?.prev_content) ? membershipIn({ content: unsigned.prev_content }) : undefined;
}

function membershipIn(event: { readonly content: JsonObject } | undefined): Membership | undefined {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership as Membership : undefined;
}

/** The section `leave` holds bans too: the own member event tells. */
function membershipOf(room: RoomPart, own: UserID): Membership {
  if (room.membership !== Membership.LEAVE) return room.membership;
  const last = stateChanges(room).findLast((event) => isMember(event) && event.state_key === own);
  return last?.content.membership === Membership.BAN ? Membership.BAN : Membership.LEAVE;
}
