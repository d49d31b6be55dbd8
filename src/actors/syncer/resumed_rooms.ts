/**
 * Rooms that are shown once more as they are: what is new in them stands behind what was shown last.
 *
 * A file of its own because `room_continuity.ts` has what happens to every response.
 *
 * @module
 */

import { sideBySide } from "../../base/runs.ts";
import { ForbiddenError } from "../../errors/errcodes.ts";
import { Membership } from "../../types/enums.ts";
import { SyncStream } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { RoomPart, SyncParts } from "./sync_parts.ts";
import { isOwnMember, type StayView } from "./membership.ts";
import type { GapPages } from "./gap_filler.ts";
import type { RoomGaps, RoomGapsOptions } from "./room_gaps.ts";
import type { SyncFilter } from "./sync_reader.ts";
import type { RoomMemory, SyncPosition } from "./sync_progress.ts";
import { CREATE, nameOf, type StatePiece, type StoreHandlers } from "../store/mod.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { SyncWindow } from "./window.ts";

/** What a `RoomContinuity` works with. */
export interface RoomContinuityOptions extends RoomGapsOptions {
  /** Has the rooms of earlier responses. */
  readonly store: ActorRef<StoreHandlers>;
  /** What was shown before. */
  readonly memory: RoomMemory;
  /** The acting user. */
  readonly own: UserID;
  /** What the server lets through. */
  readonly filter: Pick<SyncFilter, "members" | "timeline" | "timelineLimit">;
}

/** What a response goes on from. */
export interface Continuation extends Pick<SyncPosition, "since" | "anew" | "first"> {
  /** How it goes on from those before, if it is one of sliding sync. */
  readonly window?: SyncWindow;
  /** Reads its gaps, if it is kept. */
  readonly pages?: GapPages;
  /** Whether nothing is delivered of rooms that are shown as they are. Default: it is. */
  readonly dropOld?: boolean;
  /** How many events of a gap are read at most, in each room; false: none. */
  readonly limit: number | false;
  /** Whether timelines are not delivered. */
  readonly dropTimeline: boolean;
}

/** How many rooms are read at once. */
export const SIDE_BY_SIDE = 4;

/** A room, and what is known of it. */
export interface ViewedRoom {
  readonly room: RoomPart;
  readonly view: StayView;
  /** Whether the response has all of its state. Default: it need not. */
  readonly isWhole?: boolean;
  /** Whether its timeline is behind what was shown of it. Default: it need not be. */
  readonly goesOn?: boolean;
}

/**
 * Leaves out of a response that begins at the start what was there before,
 * and adds the rooms that the user has left meanwhile, which it does not show.
 *
 * @returns The rooms that the user was in before, and the others.
 */
export async function resumeRooms(
  parts: SyncParts,
  from: Continuation,
  { own, memory, store }: RoomContinuityOptions,
  gaps: RoomGaps,
): Promise<{ readonly known: readonly ViewedRoom[]; readonly others: readonly ViewedRoom[] }> {
  const before = await store.handledMemberships();
  const isNew = ({ roomId, membership }: RoomPart): boolean =>
    membership === Membership.JOIN || before.get(roomId) !== membership;
  const shown = new Set(parts.rooms.map(({ roomId }) => roomId));
  const missing = new Set(
    [...before].filter(([roomId, membership]) => membership === Membership.JOIN && !shown.has(roomId))
      .map(([roomId]) => leftRoom(roomId, parts)),
  );
  const rooms = [...missing, ...parts.rooms.filter(isNew)];
  const views = await memory.views(rooms, own);
  const all = rooms.map((room, index) => {
    const view = views[index] as StayView;
    return { room, view: missing.has(room) ? { ...view, before: { ...view.before, isJoined: true } } : view };
  });
  const stayed = all.filter(({ room, view }) =>
    view.before.isJoined && (room.membership === Membership.JOIN || missing.has(room))
  );
  await resumeStays(stayed, from, { store }, gaps);
  const isShown = (room: RoomPart): boolean => !missing.has(room) || hasEnded(room, own);
  parts.rooms = rooms.filter(isShown);
  const staying = new Set(stayed);
  return {
    known: stayed.filter(({ room }) => isShown(room)),
    others: all.filter((each) => !staying.has(each)),
  };
}

/** Leaves out of rooms that the user has been in what was shown of them before. */
export async function resumeStays(
  stayed: readonly ViewedRoom[],
  { dropTimeline, limit }: Pick<Continuation, "dropTimeline" | "limit">,
  { store }: Pick<RoomContinuityOptions, "store">,
  gaps: RoomGaps,
): Promise<void> {
  await sideBySide(stayed, SIDE_BY_SIDE, async ({ room, view, isWhole, goesOn }) => {
    if (!dropTimeline) await gaps.resume({ room, view, goesOn }, limit);
    const stored = await store.listState({ roomId: room.roomId });
    const ids = new Set(stored.map((event) => (event as { readonly event_id?: string }).event_id));
    const same = room.state.filter((event) => "event_id" in event && ids.has(event.event_id));
    room.shown = new Set([...room.shown, ...same]);
    const gone = isWhole ? missingFrom(room, stored) : [];
    if (gone.length > 0) room.gone = gone;
  });
}

/** The pieces of state that a room has not any more, of which a response has all of the state. */
function missingFrom({ state }: RoomPart, stored: readonly StatePiece[]): readonly StatePiece[] {
  const left = new Set((state as readonly StatePiece[]).map(nameOf));
  if (!left.has(CREATE)) return []; // a server that leaves this out has left out more
  return stored.filter((piece) => !left.has(nameOf(piece)));
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
    sticky: [],
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
