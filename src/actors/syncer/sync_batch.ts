/**
 * What a sync response means for the Store, and for handlers.
 *
 * @module
 */

import { encryptionOf } from "../../types/events/encryption_of.ts";
import { Membership } from "../../types/enums.ts";
import { isRedacted } from "../../types/checks/event_check.ts";
import type { MatrixEvent, MessageEvent, StateEvent, StrippedStateEvent } from "../../types/events/event.ts";
import type { SyncToken, UserID } from "../../types/ids.ts";
import type { UndecryptableEvent } from "../../types/events/internal_event.ts";
import { InternalEventType } from "../../types/events/internal_event_type.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { CryptoInput } from "../../crypto/engine/engine_protocol.ts";
import type { InternalDelivery, RoomBatch, SyncBatch } from "../dispatcher/dispatcher_protocol.ts";
import { FormerMembers, isMember, type MemberStateEvent, stateKeyOf } from "./former_members.ts";
import { asState, inOrder } from "./event_order.ts";
import { membershipChange, membershipIn, prevMembership } from "./membership_change.ts";
import type { CommittedSync, FormerRoom, RoomChange, SyncChange } from "../store/store_protocol.ts";
import type { RoomPart, SyncParts } from "./sync_parts.ts";

/** What is known of a sync beside its response. */
export interface SyncContext {
  /** The acting user. */
  readonly own: UserID;
  /** Whether the request had no token. */
  readonly initial: boolean;
  /** Whether handlers may have got the response before, in a process that has ended since. */
  readonly repeated: boolean;
  /** Whether what came with the responses before has been handled, or will be: what comes again is not to be, then. */
  readonly handledBefore: boolean;
  /** The token of the response before, if that may still be on its way to the Store. */
  readonly after?: SyncToken;
  /** Which members the filter lets through: all, those who have something to do with the timeline, or nobody knows which. */
  readonly members: "all" | "lazy" | "some";
  /** Which messages count that come in clear into an encrypted room; undefined: all do. */
  readonly acceptClear: ((event: MessageEvent) => boolean) | undefined;
  /** Whether what has been shown is to be known after a restart: it can come again then. */
  readonly outlives: boolean;
  /** Whether the response counts as handled when it is committed. */
  readonly atOnce?: boolean;
  /** Whether what happened before the start is not to be told: the state that it led to is delivered in its place. */
  readonly dropTimeline: boolean;
}

/** What Crypto has to know of a response. */
export function cryptoInput(parts: SyncParts, { initial, members, handledBefore }: SyncContext): CryptoInput {
  const { nextBatch, toDevice, deviceLists, oneTimeKeyCounts, unusedFallbackTypes, rooms } = parts;
  return {
    nextBatch,
    initial,
    handledBefore,
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
    encrypted: rooms.flatMap(({ filled, timeline, shown }) => {
      const isToRead = (event: MatrixEvent): event is MessageEvent => isReadable(event) && !shown.has(event);
      return [filled, timeline].flatMap((events) => events.filter(isToRead));
    }),
  };
}

/** Whether an event is a message that can be decrypted, perhaps: of one that was redacted nothing is left. */
function isReadable(event: MatrixEvent): event is MessageEvent {
  return event.type === "m.room.encrypted" && stateKeyOf(event) === undefined && !isRedacted(event);
}

/** What the Store has to keep of a response. */
export function syncChange(
  { nextBatch, rooms }: SyncParts,
  { initial, members, own, repeated, after, outlives, atOnce }: SyncContext,
): SyncChange {
  return {
    nextBatch,
    after,
    repeated,
    ...(atOnce && { atOnce }),
    rooms: rooms.map((room): RoomChange => ({
      roomId: room.roomId,
      membership: membershipOf(room, own),
      state: stateChanges(room),
      complete: members === "all" && room.timeline.length + room.state.length > 0,
      lossy: isLossy(room, members),
      ...(outlives && newsOf(room, initial)),
    })),
  };
}

/** What is to be known of a room after a restart. What the very first response shows comes again as a whole, or is handled. */
function newsOf(
  { news }: RoomPart,
  initial: boolean,
): Pick<RoomChange, "first" | "shown" | "added" | "entry"> {
  if (news === undefined) return {};
  const { after: { shown }, added, entry } = news;
  return {
    ...(added !== "" && (initial ? { first: shown } : { shown, added })),
    ...(entry !== undefined && { entry }),
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
  const unread = unacceptable(room, events, view);
  for (const index of unread ?? []) {
    const event = events[index] as MessageEvent;
    remarks.set(index, { type: InternalEventType.UNENCRYPTED, data: { event, source: remarkSource(event) } });
  }
  const seen = { context, former, members: new FormerMembers(events, former?.members) };
  const first = isNew(room, view) ? events.length - room.filled.length - room.timeline.length : 0;
  for (let index = first; index < events.length; index++) {
    const event = events[index] as MatrixEvent; // the index says that there is one
    const reason = undecryptable.get(event);
    if (reason !== undefined) {
      const source = remarkSource(event);
      const data = { event: event as UndecryptableEvent["event"], ...reason, source };
      remarks.set(index, { type: InternalEventType.UNDECRYPTABLE, data });
    }
    const change = isMember(event) ? changeOf(event, index, seen) : undefined;
    if (change !== undefined) remarks.set(index, change);
  }
  const ignored = room.shown.size === 0 ? unread : withoutShown(room, { events, unread, remarks });
  const gap = room.gap && { type: InternalEventType.GAP, data: room.gap };
  return { roomId, gap, events, ignored, remarks, ephemeral, accountData };
}

/** What was shown before is not delivered, and nothing is told of it. */
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

/** What Greenroom tells of history goes where history goes. */
function remarkSource({ source }: MatrixEvent): SyncStream {
  return SyncStream.INTERNAL | source & SyncStream.HISTORY;
}

/** Whether a room came with the initial sync: its state tells how things are, and of nothing that has changed. */
function isNew({ membership }: RoomPart, { context, former }: RoomView): boolean {
  return context.initial && !context.dropTimeline && membership === Membership.JOIN &&
    former?.membership !== Membership.JOIN;
}

/**
 * The messages, by their index, that came in clear into an encrypted room and do not count. A room is encrypted from the event
 * that made it so on; what came before that event still counts when both come again, since they have not been handled.
 */
function unacceptable(
  { shown }: RoomPart,
  events: readonly MatrixEvent[],
  { context: { acceptClear, repeated }, former }: RoomView,
): Set<number> | undefined {
  if (acceptClear === undefined) return undefined;
  const ignored = new Set<number>();
  const began = repeated &&
    events.some((event) =>
      isEncryption(event) && event.event_id === former?.encryptedBy && !shown.has(event)
    );
  let encrypted = former?.encrypted === true && !began;
  events.forEach((event, index) => {
    if (isEncryption(event)) encrypted = true;
    else if (encrypted && isClear(event) && !acceptClear(event)) ignored.add(index);
  });
  return ignored;
}

function isEncryption(event: MatrixEvent): event is StateEvent {
  return event.type === "m.room.encryption" && stateKeyOf(event) === "";
}

/** Whether an event is a message that nobody encrypted. */
function isClear(event: MatrixEvent): event is MessageEvent {
  return "event_id" in event && event.state_key === undefined && event.type !== "m.room.encrypted" &&
    encryptionOf(event) === undefined;
}

/**
 * What a member event tells, if it tells of a change. State mostly tells only how things are: of a room that is new to us,
 * or of a member whom the server had left out until now.
 *
 * @param index Its place among the room's events.
 */
function changeOf(
  event: MemberStateEvent,
  index: number,
  { context, former, members }: Pick<RoomView, "context" | "former"> & { readonly members: FormerMembers },
): InternalDelivery | undefined {
  const { source, state_key, content } = event;
  if ((source & (SyncStream.INVITED_ROOM | SyncStream.KNOCKED_ROOM)) !== 0) return membershipChange(event);
  const isTimeline = (source & SyncStream.TIMELINE) !== 0;
  const isOwn = state_key === context.own;
  // It was told when it came: here it stands in the history of a room that the user has been in since.
  if (isOwn && content.membership === Membership.INVITE) return undefined;
  const prev = isTimeline ? prevMembership(event) : undefined;
  if (prev !== undefined) return membershipChange(event, prev);
  const isNews = isTimeline ||
    (isOwn ? !context.initial : former?.membership === Membership.JOIN && !context.dropTimeline);
  if (!isNews) return undefined;
  const known = members.before(index, state_key);
  // What is kept may be this very event: it came before, or was noted when it was sent.
  const isKept = known?.event_id !== undefined && known.event_id === event.event_id;
  if (isTimeline) return membershipChange(event, isKept ? undefined : membershipIn(known));
  if (!isOwn && known === undefined && context.members !== "all") return undefined;
  const was = isOwn && isKept && context.repeated ? undefined : membershipIn(known);
  return was === content.membership ? undefined : membershipChange(event, was);
}

/** The section `leave` holds bans too: the own member event tells. */
function membershipOf(room: RoomPart, own: UserID): Membership {
  if (room.membership !== Membership.LEAVE) return room.membership;
  const last = stateChanges(room).findLast((event) => isMember(event) && event.state_key === own);
  return last?.content.membership === Membership.BAN ? Membership.BAN : Membership.LEAVE;
}
