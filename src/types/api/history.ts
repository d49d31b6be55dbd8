/**
 * Pages of a room's history.
 *
 * @module
 */

import type { ClientEvent, ClientStateEvent } from "../events/client_event.ts";
import type { EventID, SyncToken } from "../ids.ts";

/** A page of a room's history. */
export interface MessagesResponse {
  /** Where the page starts; some servers do not say. */
  start?: SyncToken;
  /** Where the page ends, and the next one starts; absent if nothing comes after. */
  end?: SyncToken;
  /**
   * The events, in the direction that was asked for. A page can be empty without being the last.
   */
  chunk: ClientEvent[];
  /** State that helps to show the events: their senders' member events. */
  state?: ClientStateEvent[];
}

/** An event and what is around it. */
export interface EventContextResponse {
  /** What was asked for. */
  event?: ClientEvent;
  /** Events before it, the nearest first. */
  events_before?: ClientEvent[];
  /** Events after it, the nearest first. */
  events_after?: ClientEvent[];
  /** The state of the room at the last of the events. */
  state?: ClientStateEvent[];
  /** Where to read on backwards. */
  start?: SyncToken;
  /** Where to read on forwards. */
  end?: SyncToken;
}

/** A page of the events that relate to an event. */
export interface RelationsResponse {
  /** The events, in the direction that was asked for. */
  chunk: ClientEvent[];
  /** The token of the next page; absent on the last one. */
  next_batch?: SyncToken;
  /** The token of the page before; absent on the first one. */
  prev_batch?: SyncToken;
  /** How many steps of relation were followed, if it was asked for more than one. */
  recursion_depth?: number;
}

/** A page of a room's threads. */
export interface ThreadsResponse {
  /** The roots of the threads, the one with the newest event first. */
  chunk: ClientEvent[];
  /** The token of the next page; absent on the last one. */
  next_batch?: SyncToken;
}

/** The event that is closest to a time. */
export interface TimestampToEventResponse {
  /** Identifies the event that is nearest to the time. */
  event_id: EventID;
  /** When it was sent, in milliseconds since the epoch. */
  origin_server_ts: number;
}
