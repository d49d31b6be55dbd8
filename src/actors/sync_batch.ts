/**
 * What a sync response means for the Store, and for handlers.
 *
 * @module
 */

import { Membership } from "../types/enums.ts";
import type { MatrixEvent, StateEvent, StrippedStateEvent } from "../types/event.ts";
import type { UserID } from "../types/ids.ts";
import type { UndecryptableEvent } from "../types/internal_event.ts";
import { InternalEventType } from "../types/internal_event_type.ts";
import { SyncStream } from "../types/sync_stream.ts";
import type { CryptoInput } from "./crypto_protocol.ts";
import type { InternalDelivery, RoomBatch, SyncBatch } from "./dispatcher_protocol.ts";
import { membershipChange } from "./membership_change.ts";
import type { FormerMemberships, RoomChange, SyncChange } from "./store_protocol.ts";
import type { RoomPart, SyncParts } from "./sync_parts.ts";

/** What is known of a sync beside its response. */
export interface SyncContext {
  /** The acting user. */
  readonly own: UserID;
  /** Whether the request had no token. */
  readonly initial: boolean;
  /** Whether the filter leaves out members that the timeline does not need. */
  readonly lazyMembers: boolean;
  /** Whether what happened before the start is not to be told: timelines are taken in, and not delivered. */
  readonly dropTimeline: boolean;
}

/** What Crypto has to know of a response. */
export function cryptoInput(parts: SyncParts): CryptoInput {
  const { nextBatch, toDevice, deviceLists, oneTimeKeyCounts, unusedFallbackTypes, rooms } = parts;
  const timelines = rooms.flatMap(({ filled, timeline }) => [...filled, ...timeline]);
  return {
    nextBatch,
    toDevice,
    deviceLists,
    oneTimeKeyCounts,
    unusedFallbackTypes,
    state: rooms.map((room) => ({
      roomId: room.roomId,
      events: stateChanges(room) as StateEvent[],
      limited: room.limited,
    })),
    encrypted: timelines.filter((event) =>
      event.type === "m.room.encrypted" && event.state_key === undefined
    ) as CryptoInput["encrypted"],
  };
}

/** What the Store has to keep of a response. */
export function syncChange({ nextBatch, rooms }: SyncParts, { lazyMembers, own }: SyncContext): SyncChange {
  return {
    nextBatch,
    rooms: rooms.map((room): RoomChange => ({
      roomId: room.roomId,
      membership: membershipOf(room, own),
      state: stateChanges(room),
      complete: !lazyMembers && room.timeline.length + room.state.length > 0,
      lossy: lazyMembers && room.limited,
    })),
  };
}

/** What handlers get of a response, once the Store has told what members were before. */
export function syncBatch(parts: SyncParts, context: SyncContext, former: FormerMemberships): SyncBatch {
  const { nextBatch, accountData, presence, toDevice, rooms, undecryptable } = parts;
  return {
    nextBatch,
    internal: keyEvents(parts),
    global: [...accountData, ...presence, ...toDevice],
    rooms: rooms.map((room) => roomBatch(room, { context, undecryptable, former: former.get(room.roomId) })),
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
  readonly former: ReadonlyMap<number, Membership> | undefined;
}

function roomBatch(room: RoomPart, { context, undecryptable, former }: RoomView): RoomBatch {
  const { roomId, limited, prevBatch, ephemeral, accountData } = room;
  const timeline = context.dropTimeline ? [] : [...room.filled, ...room.timeline];
  const told = new Set<string | undefined>(room.stateAfter ? timeline.map(({ event_id }) => event_id) : []);
  const state = told.size === 0 ? room.state : room.state.filter(({ event_id }) => !told.has(event_id));
  const before = formerByEvent(room, former);
  const remarks = new Map<number, InternalDelivery>();
  const remark = (index: number, event: MemberStateEvent, was: Membership | undefined): void => {
    const change = membershipChange(event, was);
    if (change !== undefined) remarks.set(index, change);
  };
  for (const [index, event] of state.entries()) {
    if (isMember(event) && isNews(event, before.get(keyOf(event)), context)) {
      remark(index, event, before.get(keyOf(event)));
    }
  }
  for (const [index, event] of timeline.entries()) {
    if (isMember(event)) {
      remark(state.length + index, event, before.get(keyOf(event)) ?? prevMembership(event));
    }
    const reason = undecryptable.get(event);
    if (reason !== undefined) {
      const data = { event: event as UndecryptableEvent["event"], reason };
      remarks.set(state.length + index, { type: InternalEventType.UNDECRYPTABLE, data });
    }
  }
  const gap: InternalDelivery | undefined = limited && !context.initial
    ? { type: InternalEventType.TIMELINE_GAP, data: { room_id: roomId, prev_batch: prevBatch } }
    : undefined;
  return { roomId, gap, events: [...state, ...timeline, ...ephemeral, ...accountData], remarks };
}

type MemberStateEvent = StateEvent | StrippedStateEvent;

function isMember(event: MatrixEvent): event is MemberStateEvent {
  return event.type === "m.room.member" && "state_key" in event && event.state_key !== undefined;
}

/**
 * Whether a member event in front of the timeline tells of a change. Most tell only how things are: of a room that is new
 * to us, or of a member whom the server had left out until now.
 */
function isNews(
  { source, state_key, content }: MemberStateEvent,
  was: Membership | undefined,
  context: SyncContext,
): boolean {
  if ((source & (SyncStream.INVITED_ROOM | SyncStream.KNOCKED_ROOM)) !== 0) return true;
  return was !== content.membership && (was !== undefined || (state_key === context.own && !context.initial));
}

function formerByEvent(room: RoomPart, former?: ReadonlyMap<number, Membership>): Map<string, Membership> {
  const byEvent = new Map<string, Membership>();
  if (former === undefined || former.size === 0) return byEvent;
  const changes = stateChanges(room);
  for (const [index, membership] of former) {
    const event = changes[index];
    if (event !== undefined) byEvent.set(keyOf(event), membership);
  }
  return byEvent;
}

/** Stripped events may have no ID; of those there is one for each user. */
function keyOf(event: MemberStateEvent): string {
  return event.event_id ?? event.state_key;
}

function prevMembership({ unsigned }: MemberStateEvent): Membership | undefined {
  const membership = unsigned?.prev_content?.membership;
  return typeof membership === "string" ? membership as Membership : undefined;
}

/** The section `leave` holds bans too: the own member event tells. */
function membershipOf(room: RoomPart, own: UserID): Membership {
  if (room.membership !== Membership.LEAVE) return room.membership;
  const last = stateChanges(room).findLast((event) => isMember(event) && event.state_key === own);
  return last?.content.membership === Membership.BAN ? Membership.BAN : Membership.LEAVE;
}
