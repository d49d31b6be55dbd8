/**
 * The rooms of a response that begins at the start, since the server does not know the token any more.
 *
 * @module
 */

import { ForbiddenError } from "../../errors/request_errcodes.ts";
import { Membership } from "../../types/enums.ts";
import { SyncStream } from "../../types/events/sync_stream.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { StoreHandlers } from "../store/mod.ts";
import { isOwnMember, type StayView } from "./membership.ts";
import type { RoomGaps } from "./room_gaps.ts";
import { sideBySide } from "../../base/side_by_side.ts";
import type { RoomPart, SyncParts } from "./sync_parts.ts";

/** How many rooms are read at once. */
const SIDE_BY_SIDE = 4;

/** A room, and what is known of it. */
interface ViewedRoom {
  readonly room: RoomPart;
  readonly view: StayView;
}

/** What {@link resumeRooms} works with. */
export interface RoomResumption {
  /** The acting user. */
  readonly own: UserID;
  /** Has the rooms of earlier responses. */
  readonly store: ActorRef<StoreHandlers>;
  /** What was shown before. */
  readonly memory: { views(rooms: readonly RoomPart[], own: UserID): StayView[] | Promise<StayView[]> };
  /** Reads what is new. */
  readonly gaps: Pick<RoomGaps, "resume">;
}

/** How a response that begins at the start is read. */
export interface ResumedResponse {
  /** Whether it may have been delivered before. */
  readonly repeated: boolean;
  /** How many events are read at most, in each room; false: none. */
  readonly limit: number | false;
  /** Whether timelines are not delivered. */
  readonly dropTimeline: boolean;
}

/**
 * Leaves out of a response that begins at the start what was there before, and adds the rooms that the user has
 * left meanwhile, which it does not show.
 *
 * @returns The rooms that the user was in before, and the others.
 */
export async function resumeRooms(
  parts: SyncParts,
  from: ResumedResponse,
  { own, memory, store, gaps }: RoomResumption,
): Promise<{ readonly known: readonly ViewedRoom[]; readonly others: readonly ViewedRoom[] }> {
  const before = new Map(
    (await store.rooms()).map((room) => [room.roomId, room.membership]),
  );
  const isNew = ({ roomId, membership }: RoomPart): boolean =>
    from.repeated || membership === Membership.JOIN || before.get(roomId) !== membership;
  const shown = new Set(parts.rooms.map(({ roomId }) => roomId));
  const missing = new Set(
    [...before].filter(([roomId, membership]) => membership === Membership.JOIN && !shown.has(roomId))
      .map(([roomId]) => leftRoom(roomId, parts)),
  );
  const rooms = [...missing, ...parts.rooms.filter(isNew)];
  const views = await memory.views(rooms, own);
  const all = rooms.map((room, index) => ({ room, view: views[index] as StayView }));
  const stayed = all.filter(({ room, view }) =>
    view.before.isJoined && (room.membership === Membership.JOIN || missing.has(room))
  );
  await sideBySide(stayed, SIDE_BY_SIDE, async ({ room, view }) => {
    if (!from.dropTimeline) await gaps.resume({ room, view }, from.limit);
    const stored = await store.listState({ roomId: room.roomId });
    const ids = new Set(stored.map((event) => (event as { readonly event_id?: string }).event_id));
    const same = room.state.filter((event) => "event_id" in event && ids.has(event.event_id));
    room.shown = new Set([...room.shown, ...same]);
  });
  const isShown = (room: RoomPart): boolean => !missing.has(room) || hasEnded(room, own);
  parts.rooms = rooms.filter(isShown);
  const staying = new Set(stayed);
  return {
    known: stayed.filter(({ room }) => isShown(room)),
    others: all.filter((each) => !staying.has(each)),
  };
}

/** The part of a room that is not shown: its events are read from the end of the response on. */
function leftRoom(roomId: RoomID, { nextBatch }: SyncParts): RoomPart {
  return {
    roomId,
    membership: Membership.LEAVE,
    base: SyncStream.LEFT_ROOM,
    state: [],
    stateAfter: false,
    filled: [],
    timeline: [],
    shown: new Set(),
    gap: undefined,
    news: undefined,
    limited: true,
    prevBatch: nextBatch,
    ephemeral: [],
    accountData: [],
  };
}

/** Whether the user is not in a room any more that is not shown: a filter can hide a room, too. */
function hasEnded({ filled, gap }: RoomPart, own: UserID): boolean {
  const last = filled.findLast((event) => isOwnMember(event, own));
  return last === undefined
    ? gap?.error instanceof ForbiddenError
    : last.content.membership !== Membership.JOIN;
}
