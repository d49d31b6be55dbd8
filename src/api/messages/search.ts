/**
 * Searching messages, as far as the server can read them.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#server-side-search | Server-side search}
 * @module
 */

import type {
  RoomEventsCriteria,
  RoomEventsResults,
  SearchCategories,
  SearchResponse,
  SearchResult,
  SearchResultContext,
} from "../../types/api/search.ts";
import { endpoint } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";
import { shaped } from "./incoming.ts";
import { clientEvent, clientStateEvent } from "../../types/checks/event_check.ts";
import { list, map, object } from "../../types/checks/composite_shapes.ts";
import { number, optional } from "../../types/checks/shape.ts";

/** What others wrote is looked at; what the server says of it is not. */
const events = optional(list(clientEvent));
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
        state: optional(map(list(clientStateEvent))),
      })),
    }),
  })),
  { idempotent: true },
);

/** Options of {@link SearchAPI.searchMessages}. */
export interface SearchMessagesOptions extends RequestOptions {
  /** Where to look, which events, in which order, and what to tell of them. Default: everywhere, the best first. */
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
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3search | POST /search}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token: accessToken });
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
      const found = await http.call(search, { path: {}, query: { next_batch: nextBatch }, body }, options);
      return found.search_categories.room_events ?? {};
    },
  };
}
