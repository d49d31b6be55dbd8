/**
 * Reads what a limited timeline left out.
 *
 * @module
 */

import { RequestTimeoutError } from "../errors/network_error.ts";
import { MatrixRequestError } from "../errors/request_error.ts";
import { ServiceResponseError } from "../errors/service_response_error.ts";
import type { Logger } from "../log.ts";
import type { ClientEvent } from "../types/client_event.ts";
import { Membership, PaginationDirection } from "../types/enums.ts";
import type { MessageEvent, StateEvent } from "../types/event.ts";
import type { RoomEventFilter } from "../types/filter.ts";
import type { RoomID, SyncToken } from "../types/ids.ts";
import { isEvent, isRoomEvent, tidyEvent } from "../types/checks/event_check.ts";
import { SyncStream } from "../types/sync_stream.ts";
import type { RoomPart } from "./sync_parts.ts";
import type { SyncRequests } from "./sync_requests.ts";

/** How many events a page is asked to hold. */
const PAGE = 100;

/** What a gap is read with. */
export interface GapReader {
  /** The way to the server. */
  readonly requests: Pick<SyncRequests, "getMessages">;
  /** The token that the response with the gap goes on from: the gap ends there. Undefined: at the limit. */
  readonly since: SyncToken | undefined;
  /** The most events to read. */
  readonly limit: number;
  /** Which events the timeline has. */
  readonly filter: RoomEventFilter | undefined;
  /** Ends the reading. */
  readonly signal: AbortSignal | undefined;
  /** Where a refusal is told. */
  readonly log: Logger;
}

/**
 * Fills the gap in front of a room's timeline, as far as the limit allows; what is left stays marked as a gap.
 *
 * A server that refuses, or takes too long, leaves the gap: it would the next time too. One that can't be reached lets the whole
 * response be asked for again.
 */
export async function fillGap(room: RoomPart, reader: GapReader): Promise<void> {
  if (!room.limited || room.prevBatch === undefined || room.membership !== Membership.JOIN) return;
  const known = new Set(room.timeline.map(({ event_id }) => event_id));
  const newestFirst: (MessageEvent | StateEvent)[] = [];
  try {
    for await (const event of backwards(room, reader)) {
      if (known.has(event.event_id)) continue;
      known.add(event.event_id);
      newestFirst.push(event);
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
    reader.log.warn("Could not fill a gap", { roomId: room.roomId, error: String(error) });
  }
  room.filled = newestFirst.reverse();
}

/**
 * Puts in the place of a room's timeline the one that it had up to an earlier token.
 *
 * @param reader Whose limit says how many events that were.
 */
export async function rewind(room: RoomPart, token: SyncToken, reader: GapReader): Promise<void> {
  room.timeline = [];
  room.prevBatch = token;
  room.limited = true;
  await fillGap(room, reader);
  room.limited = false;
}

/** The events in front of a room's timeline, from new to old; notes in the room how far it came. */
async function* backwards(room: RoomPart, reader: GapReader): AsyncGenerator<MessageEvent | StateEvent> {
  const { requests, since, filter, signal } = reader;
  for (let left = reader.limit; left > 0 && room.prevBatch !== undefined;) {
    const limit = Math.min(left, PAGE);
    const options = { toToken: since, limit, filterJson: filter, signal };
    const page = await requests.getMessages(
      room.roomId,
      PaginationDirection.BACKWARD,
      room.prevBatch,
      options,
    );
    const events = page.chunk.filter((event) => isEvent(event) && isRoomEvent(event));
    yield* events.map((event) => tagged(event, room.roomId));
    left -= page.chunk.length || PAGE; // a page can be empty without being the last
    const atEnd = page.end === undefined || page.end === room.prevBatch;
    room.prevBatch = atEnd ? undefined : page.end;
    room.limited = !atEnd;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof MatrixRequestError || error instanceof ServiceResponseError ||
    error instanceof RequestTimeoutError;
}

function tagged(event: ClientEvent, roomId: RoomID): MessageEvent | StateEvent {
  const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
  tidyEvent(event);
  return Object.assign(event, { room_id: roomId, source }) as MessageEvent | StateEvent;
}
