/**
 * Filters: which events a sync or a page of history is to have.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#filtering | Filtering}
 * @module
 */

import type { RoomID, UserID } from "../ids.ts";
import type { Open } from "../enums.ts";

/** What a sync response is to have; everything if empty. */
export interface Filter {
  /** Paths of the event members to send, such as `content.body`; all members if absent. */
  event_fields?: string[];
  /** How events look. Default: `client`. Greenroom understands no other. */
  event_format?: Open<"client" | "federation">;
  /** Which presence updates. */
  presence?: EventFilter;
  /** Which of the account's private data, rooms' not included. */
  account_data?: EventFilter;
  /** Which events of rooms. */
  room?: RoomFilter;
}

/** Which rooms, and which events of them. */
export interface RoomFilter {
  /** Rooms to send; all if absent. */
  rooms?: RoomID[];
  /** Rooms not to send, even if `rooms` has them. */
  not_rooms?: RoomID[];
  /** Whether to send rooms that the user left. Default: `false`. */
  include_leave?: boolean;
  /** Which messages and changes of state. */
  timeline?: RoomEventFilter;
  /** Leaves out state events. Default: all are given. */
  state?: RoomEventFilter;
  /** Which typing notices and receipts. */
  ephemeral?: RoomEventFilter;
  /** Which of the user's private data of rooms. */
  account_data?: RoomEventFilter;
}

/** Leaves out events of any kind. */
export interface EventFilter {
  /** At most how many, more than 0. */
  limit?: number;
  /** Types to send, `*` for any characters; all if absent. */
  types?: string[];
  /** Types not to send, even if `types` has them. */
  not_types?: string[];
  /** Senders to send from; all if absent. */
  senders?: UserID[];
  /** Senders not to send from, even if `senders` has them. */
  not_senders?: UserID[];
}

/** Leaves out events of rooms. */
export interface RoomEventFilter extends EventFilter {
  /** Rooms to send; all if absent. */
  rooms?: RoomID[];
  /** Rooms not to send, even if `rooms` has them. */
  not_rooms?: RoomID[];
  /** Whether to send member events only of the users whose events are sent. Default: `false`. */
  lazy_load_members?: boolean;
  /**
   * With `lazy_load_members`: whether to send member events that were sent before. Default:
   * `false`.
   */
  include_redundant_members?: boolean;
  /** Whether events must have, or must not have, a `url` in their content; all may if absent. */
  contains_url?: boolean;
  /** In a sync: whether to count unread events by thread. Default: `false`. */
  unread_thread_notifications?: boolean;
}
