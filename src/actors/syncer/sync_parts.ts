/**
 * Takes a sync response apart: for Crypto, for the Store and for the Dispatcher.
 *
 * A server is not trusted: a part that is not of the shape it must have is left out, and counted.
 *
 * Over 300 lines because the shape of a response is checked in one place.
 *
 * @module
 */

import type { Logger } from "../../base/log.ts";
import { Membership } from "../../types/enums.ts";
import {
  type AccountDataEvent,
  type EphemeralEvent,
  type MatrixEvent,
  type MessageEvent,
  type PresenceEvent,
  type StateEvent,
  type StrippedStateEvent,
  SyncStream,
  type ToDeviceEvent,
} from "../../types/events/event.ts";
import type { EventID, RoomID, SyncToken, UserID } from "../../types/ids.ts";
import type { Gap, UndecryptableEvent } from "../../types/events/internal_event.ts";
import {
  hasSender,
  isEvent,
  isRoomEvent,
  isState,
  isStripped,
  tidyEvent,
  tidyStripped,
} from "../../types/checks/event_check.ts";
import { isName, isReceivedRoomId, isReceivedUserId } from "../../types/identifiers.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { RememberedRoom, StatePiece } from "../store/mod.ts";
import { GONE } from "./window.ts";

/** An event of a room's timeline. */
export type TimelineEvent = MessageEvent | StateEvent;

/** What a part of a room changes of what is remembered of the room. */
export interface RoomNews {
  readonly before: RememberedRoom;
  /** What is remembered from then on. */
  readonly after: RememberedRoom;
  /** The names of its events that were not shown before: see `ShownRoom`. */
  readonly added: string;
  /** The own join, if the user came into the room with it. */
  readonly entry: EventID | undefined;
}

/** One room of a sync response. */
export interface RoomPart {
  readonly roomId: RoomID;
  /** What the user is to the room now. */
  readonly membership: Membership;
  /** The section of the response that it came in: a flag of `SyncStream`. */
  readonly base: SyncStream;
  /** State in front of the timeline, or, with `stateAfter`, at its end. */
  readonly state: readonly (StateEvent | StrippedStateEvent)[];
  /** Whether `state` holds at the timeline's end, so that the timeline changes nothing. */
  readonly stateAfter: boolean;
  /** Pieces of state that are not there any more. Absent: none. */
  gone?: readonly StatePiece[];
  /** What was missing in front of the timeline and has been read since, in order. */
  filled: readonly TimelineEvent[];
  /** The timeline, in order. */
  timeline: readonly TimelineEvent[];
  /** Events of the timeline that were shown before: they are not delivered again. */
  shown: ReadonlySet<MatrixEvent>;
  /** The events that are missing and were not filled in. */
  gap: Gap | undefined;
  /** The redactions among those. */
  missedRedactions?: readonly TimelineEvent[];
  /** What it changes of what is remembered of the room. */
  news: RoomNews | undefined;
  /** Whether events are missing in front of the timeline. */
  limited: boolean;
  /**
   * How a room came that sliding sync has shown for the first time ever,
   * or after a long time. Absent: otherwise.
   */
  asItIs?: "delivered" | "dropped";
  /** Where to read on backwards from there. */
  prevBatch: SyncToken | undefined;
  /** Sticky events that are not in the timeline. */
  sticky: readonly TimelineEvent[];
  /** Typing and receipts. */
  readonly ephemeral: readonly EphemeralEvent[];
  /** Private data of the room. */
  readonly accountData: readonly AccountDataEvent[];
}

/** Why an event can't be read. */
export type Undecryptable = Omit<UndecryptableEvent, "event">;

/** A sync response, checked and tagged. */
export interface SyncParts {
  /** The token to ask with next. */
  readonly nextBatch: SyncToken;
  /** Private data of the account. */
  readonly accountData: readonly AccountDataEvent[];
  /** Who came and went. */
  readonly presence: readonly PresenceEvent[];
  /** Messages to this device. */
  toDevice: readonly ToDeviceEvent[];
  /** Whose devices changed. */
  readonly deviceLists: { readonly changed: UserID[]; readonly left: UserID[] };
  /** How many one-time keys the server has left. */
  readonly oneTimeKeyCounts: Readonly<Record<string, number>>;
  /** Algorithms whose fallback key is unused. */
  readonly unusedFallbackTypes: string[] | undefined;
  /** Rooms: left, joined, invited to, knocked on. */
  rooms: readonly RoomPart[];
  /** Encrypted events of timelines that can't be read, with the reason. */
  undecryptable: ReadonlyMap<MatrixEvent, Undecryptable>;
  /** Rooms that Crypto knew to be encrypted before the response, whatever the Store says of them. */
  encryptedRooms: ReadonlySet<RoomID>;
  /** How many parts had the wrong shape and were left out. */
  readonly malformed: number;
}

/**
 * Takes a response apart whose `next_batch` is a string. The events are tagged in place.
 *
 * @param log Receives a server's faults. Default: they are not logged.
 */
export function takeApart(response: JsonObject, own: UserID, log?: Logger): SyncParts {
  const reader = new Reader(own);
  const rooms = reader.object(response.rooms);
  const joined = reader.rooms(rooms.join, Membership.JOIN, SyncStream.JOINED_ROOM);
  const lists = reader.object(response.device_lists);
  const fallback = response.device_unused_fallback_key_types ??
    response["org.matrix.msc2732.device_unused_fallback_key_types"];
  const parts: SyncParts = {
    nextBatch: response.next_batch as SyncToken,
    accountData: reader.events(response.account_data, SyncStream.ACCOUNT_DATA),
    presence: reader.events(response.presence, SyncStream.PRESENCE, hasSender),
    toDevice: reader.events(response.to_device, SyncStream.TO_DEVICE, hasSender),
    deviceLists: { changed: reader.userIds(lists.changed), left: reader.userIds(lists.left) },
    oneTimeKeyCounts: counts(reader.object(response.device_one_time_keys_count)),
    unusedFallbackTypes: Array.isArray(fallback)
      ? fallback.filter((item) => typeof item === "string")
      : undefined,
    rooms: [
      // Left rooms come first: a room that the user left and is invited to again is in both
      // sections.
      ...reader.rooms(rooms.leave, Membership.LEAVE, SyncStream.LEFT_ROOM),
      ...joined,
      ...reader.outside(rooms.invite, Membership.INVITE, SyncStream.INVITED_ROOM, "invite"),
      ...reader.outside(rooms.knock, Membership.KNOCK, SyncStream.KNOCKED_ROOM, "knock"),
    ],
    undecryptable: new Map(),
    encryptedRooms: new Set(),
    malformed: reader.malformed,
  };
  if (parts.malformed > 0) {
    log?.warn("Left out malformed parts of a sync response", { parts: parts.malformed });
  }
  return parts;
}

const NONE: readonly never[] = [];
const NOTHING: JsonObject = Object.freeze({});
const NOTHING_YET = { filled: NONE, shown: new Set<never>(), gap: undefined, news: undefined };

class Reader {
  readonly #own: UserID;
  /** Rooms that the user is in: no other section may show them, so that nothing is handled twice. */
  readonly #joined = new Set<RoomID>();
  malformed = 0;

  constructor(own: UserID) {
    this.#own = own;
  }

  /** The events of a section, each with its source, and its room if it has one. */
  events<Event extends MatrixEvent>(
    section: unknown,
    source: SyncStream,
    isWhole: (event: JsonObject) => boolean = () => true,
    roomId?: RoomID,
  ): readonly Event[] {
    const list = section === undefined ? NONE : this.object(section).events ?? NONE;
    const all: readonly unknown[] = Array.isArray(list) ? list : [undefined];
    const isRight = (event: unknown): event is JsonObject => isEvent(event) && isWhole(event);
    let right = 0;
    for (const event of all) {
      if (!isRight(event)) continue;
      right++;
      event.source = source;
      if (roomId !== undefined) event.room_id = roomId;
      tidyEvent(event);
    }
    this.malformed += all.length - right;
    // Checked, except for the content.
    return (right === all.length ? all : all.filter(isRight)) as readonly Event[];
  }

  rooms(section: unknown, membership: Membership, base: SyncStream): RoomPart[] {
    return this.#entries(section, (roomId, room) => {
      const timeline = this.object(room.timeline);
      const after = isJsonObject(room.state_after) ? room.state_after : undefined;
      return {
        roomId,
        membership,
        base,
        ...NOTHING_YET,
        state: this.events(after ?? room.state, base | SyncStream.STATE, isState, roomId),
        stateAfter: after !== undefined,
        ...(after?.[GONE] !== undefined && { gone: this.#pieces(after[GONE]) }),
        timeline: this.events(timeline, base | SyncStream.TIMELINE, isRoomEvent, roomId),
        limited: timeline.limited === true,
        prevBatch: typeof timeline.prev_batch === "string" ? timeline.prev_batch : undefined,
        sticky: room.msc4354_sticky === undefined
          ? NONE
          : this.events(room.msc4354_sticky, base | SyncStream.TIMELINE, isRoomEvent, roomId),
        ephemeral: this.events(room.ephemeral, base | SyncStream.EPHEMERAL, undefined, roomId),
        accountData: this.events(room.account_data, base | SyncStream.ACCOUNT_DATA, undefined, roomId),
      };
    });
  }

  /**
   * Rooms that the user is not in: the own member event, with the rest of the state in its
   * `unsigned`. That state is what the server of who invites has sent, member events of the own user
   * too; the homeserver puts the one that it has checked behind it.
   */
  outside(section: unknown, membership: Membership, base: SyncStream, kind: "invite" | "knock"): RoomPart[] {
    return this.#entries(section, (roomId, room) => {
      const found = this.events<StrippedStateEvent>(
        room[`${kind}_state`],
        base | SyncStream.STATE,
        isStripped,
        roomId,
      );
      found.forEach(tidyStripped);
      const isOwn = (event: StrippedStateEvent) => isMember(event) && event.state_key === this.#own;
      const own = found.findLast((event) => isOwn(event) && event.content.membership === membership);
      if (own === undefined) return undefined;
      own.unsigned = {
        ...this.object(own.unsigned),
        [`${kind}_room_state`]: found.filter((event) => !isOwn(event)),
      };
      return {
        roomId,
        membership,
        base,
        ...NOTHING_YET,
        state: [own],
        stateAfter: true,
        timeline: [],
        limited: false,
        prevBatch: undefined,
        sticky: [],
        ephemeral: [],
        accountData: [],
      };
    });
  }

  #pieces(value: unknown): readonly StatePiece[] {
    const all: readonly unknown[] = Array.isArray(value) ? value : [undefined];
    const right = all.filter((piece): piece is JsonObject & StatePiece =>
      isJsonObject(piece) && isName(piece.type) && isName(piece.state_key)
    );
    this.malformed += all.length - right.length;
    return right.map(({ type, state_key }) => ({ type, state_key }));
  }

  /** The user IDs of a list, if there is one. */
  userIds(value: unknown): UserID[] {
    const all: readonly unknown[] = Array.isArray(value) ? value : NONE;
    const users = all.filter(isReceivedUserId);
    this.malformed += all.length - users.length;
    return users;
  }

  /** A section, or an empty one in its place. */
  object(value: unknown): JsonObject {
    if (isJsonObject(value)) return value;
    if (value !== undefined && value !== null) this.malformed++;
    return NOTHING;
  }

  #entries(section: unknown, read: (roomId: RoomID, room: JsonObject) => RoomPart | undefined): RoomPart[] {
    const parts: RoomPart[] = [];
    if (section === undefined) return parts; // as most are
    for (const [roomId, room] of Object.entries(this.object(section))) {
      const isRight = isReceivedRoomId(roomId) && isJsonObject(room) && !this.#joined.has(roomId);
      const part = isRight ? read(roomId, room) : undefined;
      if (part === undefined) this.malformed++;
      else parts.push(part);
      if (part?.membership === Membership.JOIN) this.#joined.add(part.roomId);
    }
    return parts;
  }
}

function counts(section: JsonObject): Record<string, number> {
  const right = new Map<string, unknown>();
  for (const [name, count] of Object.entries(section)) {
    if (Number.isSafeInteger(count) && Number(count) >= 0) right.set(name, count);
  }
  return Object.fromEntries(right) as Record<string, number>;
}

/** An event of a room's state. */
export type MemberStateEvent = StateEvent | StrippedStateEvent;

/** Whether an event is a member event of a room's state. */
export function isMember(event: MatrixEvent): event is MemberStateEvent {
  return event.type === "m.room.member" && stateKeyOf(event) !== undefined;
}

/** The state key of an event, if it has one. */
export function stateKeyOf(event: MatrixEvent): string | undefined {
  return (event as Partial<StateEvent>).state_key; // faster than `in`: events have many shapes
}

/**
 * Marks what the own users have sent, and invitations of them, in place: such an invitation is an
 * `INVITE`, as it is for a client whose user is invited.
 */
export function markOwn(
  { rooms }: SyncParts,
  { isOwn }: { readonly isOwn: (userId: string) => boolean },
): void {
  for (const { timeline } of rooms) {
    for (const event of timeline) {
      if (isOwn(event.sender)) event.source |= SyncStream.OWN;
      const isInvited = isMember(event) && event.content.membership === Membership.INVITE;
      if (isInvited && isOwn(event.state_key)) event.source |= SyncStream.INVITED_ROOM;
    }
  }
}
