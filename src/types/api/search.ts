/**
 * Searching for messages.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#server-side-search | Server-side search}
 * @module
 */

import type { ClientEvent, ClientStateEvent } from "../events/client_event.ts";
import type { RoomEventFilter } from "./filter.ts";
import type { ContentURI, EventID, RoomID, SyncToken, UserID } from "../ids.ts";

/** What to search for. */
export interface SearchRequest {
  /** What to search, and how. */
  search_categories: SearchCategories<RoomEventsCriteria>;
}

/** What can be searched. */
export interface SearchCategories<Category> {
  /** Events of rooms. */
  room_events?: Category;
}

/** How to search events of rooms. */
export interface RoomEventsCriteria {
  /** The words to search for. */
  search_term: string;
  /** Where to look; everywhere if absent. */
  keys?: ("content.body" | "content.name" | "content.topic")[];
  /** Which events. */
  filter?: RoomEventFilter;
  /** What comes first: the newest or the best. Default: `rank`. */
  order_by?: "recent" | "rank";
  /** What to tell of the events around a result; nothing if absent. */
  event_context?: SearchContextCriteria;
  /** Whether to tell the state of the rooms. Default: `false`. */
  include_state?: boolean;
  /** What to group results by. */
  groupings?: SearchGroupings;
}

/** What to tell of the events around a result. */
export interface SearchContextCriteria {
  /** How many events before it. Default: 5. */
  before_limit?: number;
  /** How many events after it. Default: 5. */
  after_limit?: number;
  /** Whether to tell the senders' profiles of then. Default: `false`. */
  include_profile?: boolean;
}

/** What to group results by. */
export interface SearchGroupings {
  /** The members of events. */
  group_by?: SearchGroupKey[];
}

/** A member of events to group results by. */
export interface SearchGroupKey {
  /** The member. */
  key?: "room_id" | "sender";
}

/** What a search found. */
export interface SearchResponse {
  /** What was found, by what was searched. */
  search_categories: SearchCategories<RoomEventsResults>;
}

/** The events that a search found. */
export interface RoomEventsResults {
  /** About how many there are. */
  count?: number;
  /** Words to highlight. */
  highlights?: string[];
  /** The results, in the order that was asked for. */
  results?: SearchResult[];
  /** The state of the rooms, if it was asked for. */
  state?: { [roomId: RoomID]: ClientStateEvent[] };
  /** The groups, by the member that they are made by and its value. */
  groups?: { [key: string]: { [value: string]: SearchGroup } };
  /** The token of the next page; absent on the last one. */
  next_batch?: string;
}

/** An event that a search found. */
export interface SearchResult {
  /** How well it matches: the higher the better. */
  rank?: number;
  /** The event. */
  result?: ClientEvent;
  /** What is around it, if it was asked for. */
  context?: SearchResultContext;
}

/** What is around an event that a search found. */
export interface SearchResultContext {
  /** Where to read on backwards. */
  start?: SyncToken;
  /** Where to read on forwards. */
  end?: SyncToken;
  /** The senders' profiles of then. */
  profile_info?: { [userId: UserID]: HistoricProfile };
  /** Events before it. */
  events_before?: ClientEvent[];
  /** Events after it. */
  events_after?: ClientEvent[];
}

/** The profile that a user had. */
export interface HistoricProfile {
  /** The display name. */
  displayname?: string | null;
  /** The avatar. */
  avatar_url?: ContentURI | null;
}

/** Results that belong together. */
export interface SearchGroup {
  /** The token of the group's next page; absent on the last one. */
  next_batch?: string;
  /** Where the group stands among the groups. */
  order?: number;
  /** The events. */
  results?: EventID[];
}
