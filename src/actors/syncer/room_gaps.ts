/**
 * The gaps in front of rooms' timelines: which to fill, and what to report of the others.
 *
 * Over 300 lines because what is read, what of it is history and what is left out is decided in one place.
 *
 * @module
 */

import { isPassing } from "../../api/http/mod.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import type { Logger } from "../../base/log.ts";
import { Membership } from "../../types/enums.ts";
import type { RoomEventFilter } from "../../types/events/sync_response.ts";
import type { EventID, SyncToken } from "../../types/ids.ts";
import { SyncStream } from "../../types/events/event.ts";
import {
  fillGap,
  type GapEnd,
  type GapPages,
  type GapReader,
  GapStart,
  type OlderPage,
  pagesBefore,
  upTo,
} from "./gap_filler.ts";
import { lookAt, prevMembership, wasShown } from "../store/mod.ts";
import { entryAmong, isEntry, isOwnMember, type StayView } from "./membership.ts";
import type { SyncFilter } from "./sync_reader.ts";
import type { RoomPart, TimelineEvent } from "./sync_parts.ts";
import type { SyncRequests } from "./syncer_options.ts";

/** What {@link RoomGaps} works with. */
export interface RoomGapsOptions {
  /** The way to the server. */
  readonly requests: Pick<SyncRequests, "getMessages">;
  /** What the filter lets through. */
  readonly filter: Pick<SyncFilter, "members" | "timeline">;
  /** Says whether there is a handler of history. */
  readonly registry: { readonly wantsHistory: boolean };
  /**
   * How often the same response is given up, and requested again, since a server that fails,
   * or may be restarting, shows no gap. A server that fails for good must not keep a client from syncing.
   */
  readonly patience: number;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Logs what is left out. */
  readonly log: Logger;
}

/** A room's part, what is known of the room, and the token of the response before. */
export interface RoomWithGap {
  readonly room: RoomPart;
  /** What is known of the room. */
  readonly view: StayView;
  /** Where a gap ends; undefined: the server does not know that any more. */
  readonly since: SyncToken | undefined;
}

/** About how many events are read for one response, and how many redactions: all are held until its end. */
const MAX_READ = 50_000;
/** How many events are searched for the own join where the filter hides it, or for redactions. */
const SEARCHED = 1_000;

const REDACTIONS: RoomEventFilter = { types: ["m.room.redaction"] };

const NO_PAGE: OlderPage = { events: [], isLast: true };

/** Fills gaps. */
export class RoomGaps {
  readonly #options: RoomGapsOptions;
  #pages: GapPages | undefined;
  /** How many more events are read for the response, and how many redactions. */
  #left = { events: MAX_READ, redactions: MAX_READ };
  /** The response that was given up last, by the token before it, and how often. */
  #givenUp: { readonly since: SyncToken | undefined; times: number } = { since: undefined, times: 0 };

  /** @param options What it works with. */
  constructor(options: RoomGapsOptions) {
    this.#options = options;
  }

  /** Begins with the gaps of another response; if that is kept, they are read by its pages. */
  begin(pages: GapPages | undefined): void {
    this.#pages = pages;
    this.#left = { events: MAX_READ, redactions: MAX_READ };
  }

  /** Whether there is something to read of a room. */
  isOpen(room: RoomPart, view: StayView): boolean {
    return this.#isMissing(room, view) || this.#isHidden(room, view);
  }

  /**
   * Reads what is missing of a room.
   *
   * @param nextBatch Where its response ends.
   * @param limit The most events to read; false: none, which is reported.
   */
  async fill(gap: RoomWithGap, nextBatch: SyncToken, limit: number | false): Promise<void> {
    const { room, view } = gap;
    const after = this.#isHidden(room, view) ? await this.#findEntry(gap, nextBatch) : undefined;
    if (room.gap === undefined && this.#isMissing(room, view)) {
      const entry = room.filled; // if the filter hides it
      room.filled = [];
      const end = await this.#read(gap, limit !== false && this.#bounded(limit), after);
      const { length } = room.filled;
      this.#left.events -= length;
      const place = room.filled.findIndex(({ event_id }) => after?.has(event_id));
      room.filled = room.filled.toSpliced(place < 0 ? length : place, 0, ...entry);
      if (end.reason !== "closed" && end.reason !== "end") {
        if (end.reason === "limit") await this.redact(gap);
        leaveOut(gap, { ...end, reason: end.reason }, this.#options.log);
      }
    }
    if (after !== undefined) markFormer(room, view);
  }

  /**
   * Reads of a gap that stays what it redacts: servers do not send the state again that they have redacted.
   */
  async redact({ room, view, since }: RoomWithGap): Promise<void> {
    if (!view.before.isJoined) return; // the state comes as it is
    const rest: RoomPart = { ...room };
    const limit = Math.max(Math.min(SEARCHED, this.#left.redactions), 0);
    const { reason } = await this.#fill(rest, { ...this.#reader(since, limit), filter: REDACTIONS });
    this.#left.redactions -= rest.filled.length;
    room.missedRedactions = rest.filled;
    if (reason === "closed") return;
    const details = { roomId: room.roomId, reason, read: rest.filled.length };
    this.#options.log.warn("May have missed redactions of state in a gap", details);
  }

  /**
   * Replaces a room's timeline by the one that it had up to an earlier token; what the server does
   * not show of that is reported.
   *
   * @param limit How many events that were.
   */
  async rewind({ room, view }: Omit<RoomWithGap, "since">, token: SyncToken, limit: number): Promise<void> {
    room.timeline = [];
    room.prevBatch = token;
    const { filter: { timeline: filter } } = this.#options;
    const { reason, error } = await this.#fill(room, { ...this.#reader(undefined, limit), filter });
    const isLess = new Set(room.filled.map(({ event_id }) => event_id)).size < limit;
    if (reason === "refused" || (reason === "limit" && isLess)) {
      leaveOut({ room, view }, { reason, ...(error && { error }) }, this.#options.log);
    }
    room.limited = false;
  }

  /**
   * Finds what is new in a room whose stream begins at the start once more: what stands behind
   * what was shown last. If nothing of that is found, everything is history: rather a lost event
   * than an old command that runs again.
   *
   * @param gap The room. Where its timeline `goesOn` behind what was shown, only what stands before that
   *   says where the news begins.
   * @param limit The most events to read.
   */
  async resume(
    { room, view, goesOn = false }: Omit<RoomWithGap, "since"> & { readonly goesOn?: boolean },
    limit: number | false,
  ): Promise<void> {
    const { shown, entries } = view.before;
    const isKnown = (event: TimelineEvent): boolean =>
      wasShown(shown, event) || (shown === "" && event.event_id === entries.at(-1));
    let end: GapEnd | undefined;
    if ((goesOn || !room.timeline.some(isKnown)) && room.limited && limit !== false) {
      const endAmong = (events: readonly TimelineEvent[]): number => events.findLastIndex(isKnown);
      const filter = this.#options.filter.timeline;
      end = await this.#fill(room, { ...this.#reader(undefined, this.#bounded(limit)), filter, endAmong });
      this.#left.events -= room.filled.length;
    }
    const events = [...room.filled, ...room.timeline];
    const last = events.findIndex(isKnown);
    room.shown = new Set([...events.slice(0, Math.max(last, 0)), ...lookAt(shown, events).again]);
    room.limited = false;
    if (last >= 0 || (events.length === 0 && end?.reason !== "refused")) return;
    for (const event of events) event.source |= SyncStream.HISTORY;
    const reason = end === undefined || end.reason === "closed" || end.reason === "end"
      ? "refused"
      : end.reason;
    leaveOut({ room, view }, { reason, ...(end?.error && { error: end.error }) }, this.#options.log);
  }

  /** Whether events are missing that were not shown, and are wanted if they are history. */
  #isMissing({ limited, timeline, membership }: RoomPart, view: StayView): boolean {
    const { before: { isJoined, shown: known, entries: [entry] }, own } = view;
    if (!limited) return false;
    // If nothing was handled, the join that was committed may come again.
    if (isJoined) return known !== "" || !timeline.some(({ event_id }) => event_id === entry);
    if (timeline.some((event) => isEntry(event, view))) return this.#options.registry.wantsHistory;
    // A user who was never in the room missed nothing.
    return membership === Membership.JOIN ||
      timeline.some((event) => isOwnMember(event, own) && prevMembership(event) === Membership.JOIN);
  }

  async #read(
    { room, view, since }: RoomWithGap,
    limit: number | false,
    after: ReadonlySet<EventID> | undefined,
  ): Promise<GapEnd | LeftOut> {
    if (limit === false) return { reason: "off" };
    if (limit === 0) return { reason: "limit" };
    if (room.prevBatch === undefined) return { reason: "refused" };
    const { isJoined, shown, entries: [entry] } = view.before;
    const isAll = !isJoined && this.#options.registry.wantsHistory;
    const reader = { ...this.#reader(since, limit), filter: this.#options.filter.timeline };
    const readOlder = since === undefined ? () => Promise.resolve(NO_PAGE) : pagesBefore(room, reader, since);
    const start = new GapStart(shown, readOlder, { isDoubtful: isJoined && shown === "" });
    return await this.#fill(room, {
      ...reader,
      sift: (events) => after === undefined || isAll ? start.sift(events) : upTo(after, events),
      endAmong: (events) => {
        if (!isJoined) return isAll ? -1 : entryAmong(events, view);
        return shown === "" ? events.findLastIndex(({ event_id }) => event_id === entry) : -1;
      },
    });
  }

  /** Whether the filter hides the own join, and with it where history ends. */
  #isHidden({ membership, timeline, filled, state, stateAfter }: RoomPart, view: StayView): boolean {
    if (this.#options.filter.members !== "some" || membership !== Membership.JOIN || view.before.isJoined) {
      return false;
    }
    if (timeline.length === 0 || [...filled, ...timeline].some((event) => isEntry(event, view))) return false;
    return stateAfter ||
      !state.some((event) => isOwnMember(event, view.own) && event.content.membership === Membership.JOIN);
  }

  /**
   * Searches for the own join that the filter hides, and inserts it in its place, as shown.
   *
   * @returns The events after it; undefined: it was not found.
   */
  async #findEntry(gap: RoomWithGap, nextBatch: SyncToken): Promise<ReadonlySet<EventID> | undefined> {
    const { room, view, since } = gap;
    const all: RoomPart = { ...room, timeline: [], prevBatch: nextBatch };
    const endAmong = (events: readonly TimelineEvent[]): number => entryAmong(events, view);
    const { reason, error } = await this.#fill(all, { ...this.#reader(since, SEARCHED), endAmong });
    const [entry, ...others] = all.filled;
    if (reason === "refused") {
      // Rather a lost event than an old command that runs again.
      room.timeline.forEach((event) => event.source |= SyncStream.HISTORY);
      leaveOut(gap, { reason, ...(error && { error }) }, this.#options.log);
    }
    if (reason !== "end" || entry === undefined) return undefined;
    const after = new Set(others.map(({ event_id }) => event_id));
    after.delete(entry.event_id); // shown twice
    const place = room.timeline.findIndex(({ event_id }) => after.has(event_id));
    if (place === 0) room.filled = [entry];
    else room.timeline = room.timeline.toSpliced(place < 0 ? room.timeline.length : place, 0, entry);
    room.shown = new Set([...room.shown, entry]);
    return after;
  }

  /**
   * Fills a gap.
   *
   * @throws What a server answers that fails, restarts, or has too much to do: a few times.
   */
  async #fill(room: RoomPart, reader: GapReader): Promise<GapEnd> {
    const end = await fillGap(room, reader);
    const { error } = end;
    if (!(error instanceof MatrixRequestError) || !isPassing(error)) return end;
    const { since } = reader;
    if (this.#givenUp.since !== since) this.#givenUp = { since, times: 0 };
    if (this.#givenUp.times++ >= this.#options.patience) return end;
    throw error;
  }

  #bounded(limit: number): number {
    return Math.max(Math.min(limit, this.#left.events), 0);
  }

  #reader(since: SyncToken | undefined, limit: number): GapReader {
    const { requests, signal } = this.#options;
    return { requests: this.#pages ?? requests, since, limit, filter: undefined, signal };
  }
}

/** Marks as history what stands in front of an own join that the filter hides: it counts as shown. */
function markFormer({ filled, timeline }: RoomPart, view: StayView): void {
  const events = [...filled, ...timeline];
  const entry = events.findIndex((event) => isEntry(event, view));
  for (const event of events.slice(0, entry)) event.source |= SyncStream.HISTORY;
}

/** Why something is left out. */
type LeftOut = Pick<NonNullable<RoomPart["gap"]>, "reason" | "error">;

/** Reports that something is left out of a room. */
export function leaveOut(
  { room, view, since }: Omit<RoomWithGap, "since"> & Partial<RoomWithGap>,
  why: LeftOut,
  log: Logger,
): void {
  const { roomId, prevBatch, filled, timeline } = room;
  const isHistory = !view.before.isJoined && [...filled, ...timeline].some((event) => isEntry(event, view));
  room.gap = {
    room_id: roomId,
    ...(prevBatch !== undefined && { from: prevBatch }),
    ...(since !== undefined && { to: since }),
    read: filled.length,
    ...why,
    source: SyncStream.INTERNAL | (isHistory ? SyncStream.HISTORY : 0),
  };
  if (isHistory) return;
  const { reason, error } = why;
  const details = { roomId, reason, read: filled.length, ...(error && { error: String(error) }) };
  log.warn("Left out events of a room: see GAP", details);
}
