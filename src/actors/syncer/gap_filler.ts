/**
 * Reads what a limited timeline left out, also from servers that read on beyond where the gap starts.
 *
 * @module
 */

import { MatrixRequestError, RequestTimeoutError } from "../../errors/request_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { type ClientEvent, SyncStream } from "../../types/events/event.ts";
import { PaginationDirection } from "../../types/enums.ts";
import type { RoomEventFilter } from "../../types/events/sync_response.ts";
import type { EventID, SyncToken } from "../../types/ids.ts";
import type { GapReason } from "../../types/events/internal_event.ts";
import { isEvent, isRoomEvent, tidyEvent } from "../../types/checks/event_check.ts";
import type { MessagesResponse } from "../../types/events/room_records.ts";
import type { RoomPart, TimelineEvent } from "./sync_parts.ts";
import { isFinal } from "./sync_failure.ts";
import type { SyncRequests } from "./syncer_options.ts";
import { type ShownEvents, wasShown } from "../store/mod.ts";
import type { KeptPage } from "./window.ts";

/** How many events a page is asked to hold. */
const PAGE = 100;
/** How many pages with nothing end the reading: of a gap, or, in a row, of what stands before it. */
const PATIENCE = 10;
/** How many characters of pages are kept with a response: one text has them all, and no text is endless. */
const MAX_KEPT = 50_000_000;

/**
 * Reads the pages of gaps of a response that is kept. They are kept with it, so that it comes again as it
 * came: by then the server may refuse them, since the user has been thrown out. What is too much to be kept
 * is read again.
 */
export class GapPages implements Pick<SyncRequests, "getMessages"> {
  readonly #requests: Pick<SyncRequests, "getMessages">;
  readonly #kept: ReadonlyMap<string, string>;
  /** What has been read beside that, and is to be kept. */
  readonly #read: KeptPage[] = [];
  /** How many more characters are kept. */
  #left = MAX_KEPT;

  /**
   * @param requests The way to the server.
   * @param kept What is kept.
   */
  constructor(requests: Pick<SyncRequests, "getMessages">, kept: readonly KeptPage[]) {
    this.#requests = requests;
    this.#kept = new Map(kept);
    for (const text of this.#kept.values()) this.#left -= text.length;
  }

  /** All pages to keep; undefined: there are no others than were kept. */
  get news(): readonly KeptPage[] | undefined {
    return this.#read.length === 0 ? undefined : [...this.#kept, ...this.#read];
  }

  /** Reads a page, unless it is kept. */
  async getMessages(...request: Parameters<SyncRequests["getMessages"]>): Promise<MessagesResponse> {
    const [roomId, _, from, { toToken, filterJson } = {}] = request;
    const asked = JSON.stringify([roomId, from, toToken, filterJson]);
    const known = this.#kept.get(asked);
    if (known !== undefined) return JSON.parse(known) as MessagesResponse;
    const page = await this.#requests.getMessages(...request);
    const text = JSON.stringify(page);
    this.#left -= text.length;
    if (this.#left >= 0) this.#read.push([asked, text]);
    return page;
  }
}

/** What a gap is read with. */
export interface GapReader {
  /** The way to the server. */
  readonly requests: Pick<SyncRequests, "getMessages">;
  /**
   * The token that the response with the gap goes on from: the gap ends there. Undefined: at the
   * limit.
   */
  readonly since: SyncToken | undefined;
  /** The most events to read. */
  readonly limit: number;
  /** Which events the timeline has. */
  readonly filter: RoomEventFilter | undefined;
  /** Which events of a page belong to the gap, even if the server ignores `toToken`. Default: all. */
  readonly sift?: (events: readonly TimelineEvent[]) => Sifted | Promise<Sifted>;
  /** The index of the event of a page that is the last one to be read; -1: none is. */
  readonly endAmong?: (events: readonly TimelineEvent[]) => number;
  /** Ends the reading. */
  readonly signal: AbortSignal | undefined;
}

/** Why the reading of a gap has ended. */
export interface GapEnd {
  /** `closed`: nothing is missing any more; `end`: at the event that was to be the last. */
  readonly reason: Exclude<GapReason, "off"> | "closed" | "end";
  /** What the server said, if it refused. */
  readonly error?: Error;
}

/**
 * Fills the gap in front of a room's timeline, as far as the limit allows; what is left stays
 * marked as a gap.
 *
 * If the server refuses or takes too long, the gap stays: it would the next time, too. If it can't
 * be reached, or the client can't go on, the error is thrown: the whole response is requested again,
 * by the next process at the latest.
 */
export async function fillGap(room: RoomPart, reader: GapReader): Promise<GapEnd> {
  const newestFirst: TimelineEvent[] = [];
  try {
    return await readBack(room, reader, newestFirst);
  } catch (error) {
    if (!isRefusal(error) || isFinal(error)) throw error;
    return { reason: "refused", error };
  } finally {
    room.filled = newestFirst.reverse();
  }
}

/**
 * Reads the events in front of a room's timeline, from new to old, and sets in the room how far it
 * came.
 */
async function readBack(
  room: RoomPart,
  { requests, since, limit, filter, sift, endAmong, signal }: GapReader,
  newestFirst: TimelineEvent[],
): Promise<GapEnd> {
  const seen = new Set<string>(); // pages can overlap, but not without end
  let left = 2 * Math.max(limit, PAGE);
  for (let empty = 0; seen.size < limit && left > 0 && empty < PATIENCE && room.prevBatch !== undefined;) {
    const { size } = seen;
    const page = await requests.getMessages(room.roomId, PaginationDirection.BACKWARD, room.prevBatch, {
      toToken: since,
      limit: Math.min(limit - size, PAGE),
      filterJson: filter,
      signal,
    });
    const all = timelineEvents(page.chunk, room);
    for (const { event_id } of all) seen.add(event_id);
    left -= all.length;
    if (seen.size === size) empty++; // without being the last
    const { events, isBefore } = await sift?.(all) ?? { events: all, isBefore: false };
    const last = endAmong?.(events) ?? -1;
    for (const event of last < 0 ? events : events.slice(0, last + 1)) newestFirst.push(event);
    if (last >= 0) return { reason: "end" };
    const atEnd = isBefore || page.end === undefined || page.end === room.prevBatch;
    room.prevBatch = atEnd ? undefined : page.end;
    room.limited = !atEnd;
  }
  return { reason: room.limited ? "limit" : "closed" };
}

/**
 * Reads what stands before a token, from new to old, a page with each call.
 *
 * @param room The room.
 * @param reader What it is read with.
 * @param token The token.
 */
export function pagesBefore(
  room: Pick<RoomPart, "roomId" | "base">,
  { requests, filter, signal }: Pick<GapReader, "requests" | "filter" | "signal">,
  token: SyncToken,
): () => Promise<OlderPage> {
  let from = token;
  return async () => {
    const options = { limit: PAGE, filterJson: filter, signal };
    const page = await requests.getMessages(room.roomId, PaginationDirection.BACKWARD, from, options);
    const isLast = page.end === undefined || page.end === from;
    from = page.end ?? from;
    return { events: timelineEvents(page.chunk, room), isLast };
  };
}

function timelineEvents(
  chunk: readonly ClientEvent[],
  room: Pick<RoomPart, "roomId" | "base">,
): TimelineEvent[] {
  return chunk.filter((event) => isEvent(event) && isRoomEvent(event)).map((event) => tagged(event, room));
}

function isRefusal(error: unknown): error is Error {
  return error instanceof MatrixRequestError || error instanceof ServiceResponseError ||
    error instanceof RequestTimeoutError;
}

/** An event with the room and the source of its timeline. */
function tagged(event: ClientEvent, { roomId, base }: Pick<RoomPart, "roomId" | "base">): TimelineEvent {
  tidyEvent(event);
  return Object.assign(event, { room_id: roomId, source: base | SyncStream.TIMELINE }) as TimelineEvent;
}

/** A page of what stands before a gap, from new to old. */
export interface OlderPage {
  readonly events: readonly TimelineEvent[];
  /** Whether there are no more. */
  readonly isLast: boolean;
}

/** Events of a page that belong to the gap. */
export interface Sifted {
  /** The events, from new to old. */
  readonly events: readonly TimelineEvent[];
  /** Whether the page lies before the gap. */
  readonly isBefore: boolean;
}

/** The events of a page that stand behind the own join. */
export function upTo(after: ReadonlySet<EventID>, page: readonly TimelineEvent[]): Sifted {
  const events = page.filter(({ event_id }) => after.has(event_id));
  return { events, isBefore: events.length < page.length };
}

/**
 * Tells what belongs to a gap from what stands before it.
 *
 * An event that was shown proves only itself: it may stand among new ones. It also is what comes first
 * where the server reads on beyond the gap, and then there are events behind it that were shown too long
 * ago to be remembered, or never. So from there on each page is compared with what the server gives from
 * the token on at which the gap starts.
 */
export class GapStart {
  readonly #shown: ShownEvents;
  readonly #nextOlder: () => Promise<OlderPage>;
  /** The events before the gap, as far as they have been read. */
  readonly #older = new Set<string>();
  #isAllRead = false;
  /** How many events the server has given since it may have read on; undefined: it has not. */
  #doubtful: number | undefined;

  /**
   * @param shown The latest events that were shown before the gap.
   * @param readOlder Reads the next page of what stands before the gap.
   * @param options Whether the server may have read on without having come to an event that is remembered.
   */
  constructor(
    shown: ShownEvents,
    readOlder: () => Promise<OlderPage>,
    { isDoubtful }: { readonly isDoubtful: boolean },
  ) {
    this.#shown = shown;
    this.#nextOlder = readOlder;
    if (isDoubtful) this.#doubtful = 0;
  }

  /**
   * Takes the events of a page that belong to the gap.
   *
   * @param page The events, from new to old: pages come in order.
   * @throws {ServiceResponseError} If the server does not show what stands before the gap.
   */
  async sift(page: readonly TimelineEvent[]): Promise<Sifted> {
    const isNew = (event: TimelineEvent): boolean => !wasShown(this.#shown, event);
    const first = page.findIndex((event) => !isNew(event));
    if (this.#doubtful === undefined && first < 0) return { events: page, isBefore: false };
    this.#doubtful = (this.#doubtful ?? -Math.max(first, 0)) + page.length;
    await this.#readOlder(this.#doubtful);
    const isOlder = ({ event_id }: TimelineEvent): boolean => this.#older.has(event_id);
    const unknown = page.filter(isNew);
    const events = unknown.filter((event) => !isOlder(event));
    return { events, isBefore: events.length === 0 && unknown.length > 0 };
  }

  /** Reads so many events before the gap: a server that has read on has given no more of them. */
  async #readOlder(count: number): Promise<void> {
    for (let empty = 0; !this.#isAllRead && this.#older.size < count;) {
      const { events, isLast } = await this.#nextOlder();
      events.forEach(({ event_id }) => this.#older.add(event_id));
      this.#isAllRead = isLast;
      empty = events.length === 0 ? empty + 1 : 0;
      if (empty === PATIENCE) {
        throw new ServiceResponseError(
          "Cannot tell where a gap starts: the homeserver shows nothing before it",
        );
      }
    }
  }
}
