/**
 * Searching messages, as far as the server can read them.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-search | Server-side search}
 * @module
 */

import { CALL, endpoint, type RequestOptions, type Session, shaped } from "../http/mod.ts";
import { clientEvent, clientStateEvent, eventList } from "../../types/checks/event_check.ts";
import { list, map, number, object, optional } from "../../types/checks/shape.ts";
import type { ClientEvent, ClientStateEvent } from "../../types/events/event.ts";
import type { RoomEventFilter } from "../../types/events/sync_response.ts";
import type { ContentURI, EventID, RoomID, SyncToken, UserID } from "../../types/ids.ts";

/** The criteria, by category. */
export interface SearchRequest {
  /** What to search, and how. */
  search_categories: SearchCategories<RoomEventsCriteria>;
}

/** What can be searched. */
export interface SearchCategories<Category> {
  /** Events of the rooms that the user is or was in. */
  room_events?: Category;
}

/** How to search events of rooms. */
export interface RoomEventsCriteria {
  /** The words to search for. */
  search_term: string;
  /** Where to look; everywhere if absent. */
  keys?: ("content.body" | "content.name" | "content.topic")[];
  /** Leaves out events, as in a sync. Default: all that the user may see. */
  filter?: RoomEventFilter;
  /** What comes first: the newest or the best. Default: `rank`. */
  order_by?: "recent" | "rank";
  /** What to return of the events around a result; nothing if absent. */
  event_context?: SearchContextCriteria;
  /** Whether to return the state of the rooms. Default: `false`. */
  include_state?: boolean;
  /** What to group results by. */
  groupings?: SearchGroupings;
}

/** What to return of the events around a result. */
export interface SearchContextCriteria {
  /** How many events before it. Default: 5. */
  before_limit?: number;
  /** How many events after it. Default: 5. */
  after_limit?: number;
  /** Whether to return the senders' profiles of that time. Default: `false`. */
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
  /** The event that was found. */
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
  /** Events from just before the result. */
  events_before?: ClientEvent[];
  /** Events from just after the result. */
  events_after?: ClientEvent[];
}

/** The profile that a user had. */
export interface HistoricProfile {
  /** The display name. */
  displayname?: string | null;
  /** The picture, null if there was none. */
  avatar_url?: ContentURI | null;
}

/** Results that belong together. */
export interface SearchGroup {
  /** The token of the group's next page; absent on the last one. */
  next_batch?: string;
  /** Where the group stands among the groups. */
  order?: number;
  /** Those of the results that belong to the group. */
  results?: EventID[];
}

/** What others wrote is looked at; what the server says of it is not. */
const events = optional(eventList(clientEvent));
const result = object<SearchResult>({
  rank: optional(number),
  result: optional(clientEvent),
  context: optional(
    object<Pick<SearchResultContext, "events_before" | "events_after">>({
      events_before: events,
      events_after: events,
    }),
  ),
});
const search = endpoint(
  "searchMessages",
  "POST",
  "/_matrix/client/v3/search",
  shaped(object<SearchResponse>({
    search_categories: object<SearchCategories<RoomEventsResults>>({
      room_events: optional(object<Pick<RoomEventsResults, "results" | "state">>({
        results: optional(list(result)),
        state: optional(map(eventList(clientStateEvent))),
      })),
    }),
  })),
  { idempotent: true },
);

/** Options of {@link SearchAPI.searchMessages}. */
export interface SearchMessagesOptions extends RequestOptions {
  /**
   * Where to look, which events, in which order, and what to return of them. Default: everywhere,
   * the best first.
   */
  criteria?: Omit<RoomEventsCriteria, "search_term">;
  /** Where to go on: `next_batch` of other results. Default: the first page. */
  nextBatch?: string;
}

/** The operation that searches. */
export interface SearchAPI {
  /**
   * Searches messages, names and topics of the user's rooms. Encrypted messages can't be found.
   *
   * @param searchTerm The words to search for.
   * @param options Where and how to search, and request options.
   * @returns The results, and the token of the next page if there is one.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3search | POST /search}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "The ghost enters");
   * const { results = [] } = await client.searchMessages("ghost");
   * console.assert(results[0]?.result?.room_id === roomId);
   * ```
   */
  searchMessages(searchTerm: string, options?: SearchMessagesOptions): Promise<RoomEventsResults>;
}

/** Makes the operation that searches. */
export function searchAPI({ http }: Session): SearchAPI {
  return {
    async searchMessages(searchTerm, { criteria, nextBatch, ...options } = {}) {
      const body = { search_categories: { room_events: { ...criteria, search_term: searchTerm } } };
      const found = await http[CALL](search, { path: {}, query: { next_batch: nextBatch }, body }, options);
      return found.search_categories.room_events ?? {};
    },
  };
}
