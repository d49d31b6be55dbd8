/**
 * Joins the rooms of a sync response to what came before: what was shown already, what is missing,
 * and what is history.
 *
 * @module
 */

import { Membership } from "../../types/enums.ts";
import type { SyncToken } from "../../types/ids.ts";
import { markHistory, type StayView } from "./membership.ts";
import { leaveOut, RoomGaps, type RoomWithGap } from "./room_gaps.ts";
import { lookAt, withShown } from "../store/mod.ts";
import { isMember, type RoomPart, type SyncParts, type TimelineEvent } from "./sync_parts.ts";
import { NEVER_SEEN } from "./sync_progress.ts";
import { sideBySide } from "../../base/runs.ts";
import {
  type Continuation,
  resumeRooms,
  resumeStays,
  type RoomContinuityOptions,
  SIDE_BY_SIDE,
  type ViewedRoom,
} from "./resumed_rooms.ts";
import type { SyncWindow } from "./window.ts";

/** How many own joins are remembered. */
const ENTRIES = 8;

/** Joins responses to what came before. They must come in order. */
export class RoomContinuity {
  readonly #options: RoomContinuityOptions;
  readonly #gaps: RoomGaps;

  /** @param options What it works with. */
  constructor(options: RoomContinuityOptions) {
    this.#options = options;
    this.#gaps = new RoomGaps(options);
  }

  /** Joins a response. Returns undefined if there was nothing to wait for. */
  connect(parts: SyncParts, from: Continuation): Promise<void> | undefined {
    const { since, window, pages } = from;
    this.#gaps.begin(pages);
    if (window !== undefined) return this.#slide(parts, from, window);
    if (since === undefined) return from.anew ? this.#resume(parts, from) : this.#begin(parts, from);
    const { own, memory } = this.#options;
    const views = memory.views(parts.rooms, own);
    return Array.isArray(views)
      ? this.#join(parts, views, from)
      : views.then((views) => this.#join(parts, views, from));
  }

  /** Leaves out of a response that begins at the start what was there before. */
  async #resume(parts: SyncParts, from: Continuation): Promise<void> {
    const { known, others } = await resumeRooms(parts, from, this.#options, this.#gaps);
    const rooms = others.map(({ room }) => room);
    await this.#join({ ...parts, rooms }, others.map(({ view }) => view), from);
    known.forEach(({ room, view }) => setNews(room, view));
  }

  /** A response of sliding sync: some of its rooms are as they are, whatever was shown of them. */
  async #slide(parts: SyncParts, from: Continuation, window: SyncWindow): Promise<void> {
    const { own, memory } = this.#options;
    const { since, initial, isWhole, isGrowing, isFirst } = window;
    const views = await memory.views(parts.rooms, own);
    const shown = new Set(initial);
    const known: ViewedRoom[] = [];
    const others: ViewedRoom[] = [];
    const isStart = from.since === undefined && !from.anew; // what is known is what this response has shown
    each(parts.rooms, views, (room, view) => {
      const isInitial = shown.has(room.roomId);
      const { before } = view;
      if (isInitial && isFirst && (isStart || before.shown === "")) {
        room.asItIs = from.dropOld ? "dropped" : "delivered";
        tell([room]);
      } else if (
        (isInitial || (isGrowing && room.limited)) && isJoined(room) && before.isJoined &&
        before.shown + before.entries.join("") !== ""
      ) {
        if (from.dropOld) room.asItIs = "dropped";
        known.push({ room, view, isWhole: isInitial && isWhole, goesOn: !isInitial });
      } else others.push({ room, view });
    });
    const dropTimeline = from.dropTimeline || from.dropOld === true;
    await resumeStays(known, { ...from, dropTimeline }, this.#options, this.#gaps);
    const rooms = others.map(({ room }) => room);
    await this.#join({ ...parts, rooms }, others.map(({ view }) => view), { ...from, since });
    known.forEach(({ room, view }) => setNews(room, view));
  }

  /** The very first response, or a repetition of it: it is delivered as a whole. */
  #begin(parts: SyncParts, { first, dropTimeline }: Continuation): Promise<void> | undefined {
    return first === undefined ? void tell(parts.rooms) : this.#repeat(parts, first, { dropTimeline });
  }

  /** Makes a response that begins at the start into the very first one, as that was. */
  async #repeat(
    parts: SyncParts,
    first: SyncToken,
    { dropTimeline }: Pick<Continuation, "dropTimeline">,
  ): Promise<void> {
    const { filter, own, memory } = this.#options;
    const views = await memory.views(parts.rooms, own);
    const all = parts.rooms.map((room, index) => ({ room, view: views[index] as StayView }));
    const there = all.filter(({ room, view }) => !isJoined(room) || wasThere(view));
    parts.rooms = there.map(({ room }) => room);
    const limit = dropTimeline ? 0 : filter.timelineLimit;
    await sideBySide(there.filter(({ room }) => hasTimeline(room)), SIDE_BY_SIDE, async (each) => {
      await this.#gaps.rewind(each, first, limit);
    });
    tell(parts.rooms);
  }

  /** @returns Undefined if there was nothing to read. */
  #join(
    { rooms, nextBatch }: SyncParts,
    views: readonly StayView[],
    { since, limit, dropTimeline }: Continuation,
  ): Promise<void> | undefined {
    const gaps: RoomWithGap[] = [];
    const mayHide = this.#options.filter.members === "some";
    for (const [index, room] of rooms.entries()) {
      const view = views[index] as StayView; // one for each room
      const { again, added } = lookAt(view.before.shown, room.timeline);
      room.shown = again;
      const isGap = (room.limited || mayHide) &&
        (dropTimeline ? room.limited : this.#gaps.isOpen(room, view));
      if (isGap) gaps.push({ room, view, since });
      else setNews(room, view, added); // the usual case
    }
    if (gaps.length === 0) return undefined;
    return sideBySide(gaps, SIDE_BY_SIDE, async (gap) => {
      await (dropTimeline ? this.#gaps.redact(gap) : this.#gaps.fill(gap, nextBatch, limit));
    }).then(() => gaps.forEach(({ room, view }) => setNews(room, view)));
  }
}

/** Whether a room was in the very first response: else it comes with one of those behind that. */
function wasThere({ before: { shown, isJoined, entries } }: StayView): boolean {
  return shown !== "" || (isJoined && entries.length === 0);
}

/** Sets the news of rooms that are delivered as a whole. */
function tell(rooms: readonly RoomPart[]): void {
  for (const room of rooms) {
    const { again, added } = lookAt("", eventsOf(room));
    room.shown = again;
    const after = { isJoined: isJoined(room), shown: withShown("", added), entries: [] };
    room.news = { before: NEVER_SEEN, after, added, entry: undefined };
  }
}

/**
 * Notes of a response that was requested elsewhere what the user is to rooms, and the gaps.
 *
 * @param parts The response.
 * @param options Who acts, what was shown before, and where gaps are logged.
 */
export async function noteRooms(
  { rooms }: SyncParts,
  { own, memory, log }: Pick<RoomContinuityOptions, "own" | "memory" | "log">,
): Promise<void> {
  const views = await memory.views(rooms, own);
  each(rooms, views, (room, view) => {
    if (room.limited && view.before.isJoined) leaveOut({ room, view }, { reason: "off" }, log);
    const after = { ...view.before, isJoined: isJoined(room) };
    room.news = { before: view.before, after, added: "", entry: undefined };
  });
}

/**
 * Marks what is history in a room's part, and sets its news.
 *
 * @param names The names of its events that were not shown before. Default: of those that are not in `shown`.
 */
function setNews(room: RoomPart, view: StayView, names?: string): void {
  const { before } = view;
  const { shown, entries } = before;
  const events = eventsOf(room);
  // What was read can overlap with the timeline, and with itself: the first place counts.
  if (room.filled.length > 0) room.shown = new Set([...room.shown, ...lookAt(shown, events).again]);
  // In the usual case the user was there all the time, and nothing tells of another.
  const isSettled = before.isJoined && room.state.length === 0 && !events.some(isMember);
  const entry = isSettled ? undefined : markHistory(room, view);
  const isNews = entry !== undefined && isJoined(room) && !entries.includes(entry);
  const added = names ?? lookAt("", events.filter((event) => !room.shown.has(event))).added;
  const after = {
    isJoined: isJoined(room),
    shown: withShown(shown, added),
    entries: isNews ? [...entries, entry].slice(-ENTRIES) : entries,
  };
  room.news = { before, after, added, entry: isNews ? entry : undefined };
}

function eventsOf({ filled, timeline }: RoomPart): readonly TimelineEvent[] {
  return filled.length === 0 ? timeline : [...filled, ...timeline];
}

function each(
  rooms: readonly RoomPart[],
  views: readonly StayView[],
  act: (room: RoomPart, view: StayView) => void,
): void {
  for (let index = 0; index < rooms.length; index++) act(rooms[index] as RoomPart, views[index] as StayView);
}

function isJoined({ membership }: RoomPart): boolean {
  return membership === Membership.JOIN;
}

/** Whether a part has a timeline: of rooms that the user is only invited to nothing can be read. */
function hasTimeline({ membership }: RoomPart): boolean {
  return membership === Membership.JOIN || membership === Membership.LEAVE;
}
