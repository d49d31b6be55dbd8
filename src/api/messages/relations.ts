/**
 * Events that relate to others: reactions, edits, threads.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#relationship-apis | Relationships API}
 * @module
 */

import { CALL, checkInteger, endpoint, type RequestOptions, type Session, shaped } from "../http/mod.ts";
import { clientEvent, eventList } from "../../types/checks/event_check.ts";
import { object } from "../../types/checks/composite_shapes.ts";
import { number, optional, text } from "../../types/checks/shape.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { Open, PaginationDirection, RelationType } from "../../types/enums.ts";
import type { RelationsResponse, ThreadsResponse } from "../../types/events/room_records.ts";
import type { EventID, RoomID, SyncToken } from "../../types/ids.ts";

const parseRelations = shaped(object<RelationsResponse>({
  chunk: eventList(clientEvent),
  next_batch: optional(text),
  prev_batch: optional(text),
  recursion_depth: optional(number),
}));
const relations = endpoint(
  "getRelations",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/relations/{eventId}",
  parseRelations,
);
const relationsOfKind = endpoint(
  "getRelations",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/relations/{eventId}/{relType}",
  parseRelations,
);
const relationsOfType = endpoint(
  "getRelations",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/relations/{eventId}/{relType}/{eventType}",
  parseRelations,
);
const threads = endpoint(
  "getThreads",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/threads",
  shaped(object<ThreadsResponse>({ chunk: eventList(clientEvent), next_batch: optional(text) })),
);

/** Options of {@link RelationsAPI.getRelations}. */
export interface GetRelationsOptions extends RequestOptions {
  /** How the events relate. Default: in any way. */
  relType?: Open<RelationType>;
  /** The type of the events, together with `relType` only. Default: any. */
  eventType?: string;
  /**
   * Where to begin: a token of another page, of history or of sync. Default: the newest end, or the
   * oldest with `f`.
   */
  from?: SyncToken;
  /** The token at which to stop. Default: the other end. */
  to?: SyncToken;
  /** At most how many, at least 1. Default: as the server likes. */
  limit?: number;
  /** The direction in which to read. Default: `b`, from new to old. */
  direction?: PaginationDirection;
  /**
   * Whether to have events that relate to the related ones, too, as deep as the server goes.
   * Default: false.
   */
  recurse?: boolean;
}

/** Options of {@link RelationsAPI.getThreads}. */
export interface GetThreadsOptions extends RequestOptions {
  /** Which threads: all, or those that the user has written in. Default: `all`. */
  include?: "all" | "participated";
  /** At most how many, at least 1. Default: as the server likes. */
  limit?: number;
  /** Where to begin: `next_batch` of another page. Default: the thread with the newest event. */
  from?: string;
}

/** Operations on related events. */
export interface RelationsAPI {
  /**
   * Reads a page of the events that relate to an event.
   *
   * @param roomId The room.
   * @param eventId The event that is related to.
   * @param options Which events, where to begin, and request options.
   * @returns The events, and the token of the next page if there is one.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @throws {ValueError} If there is an `eventType` and no `relType`, or `limit` is no integer of
   *   at least 1.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1roomsroomidrelationseventid | GET /rooms/{roomId}/relations/{eventId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, "Bravo?");
   * await client.react(roomId, eventId, "👏");
   * const { chunk } = await client.getRelations(roomId, eventId, { relType: "m.annotation" });
   * console.assert(chunk.length === 1);
   * ```
   */
  getRelations(roomId: RoomID, eventId: EventID, options?: GetRelationsOptions): Promise<RelationsResponse>;

  /**
   * Reads a page of a room's threads.
   *
   * @param roomId The room.
   * @param options Which threads, where to begin, and request options.
   * @returns The roots of the threads, and the token of the next page if there is one.
   * @throws {ForbiddenError} If the caller may not see the room.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv1roomsroomidthreads | GET /rooms/{roomId}/threads}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function newestThread(client: Client, roomId: RoomID): Promise<string | undefined> {
   *   return (await client.getThreads(roomId, { limit: 1 })).chunk[0]?.event_id;
   * }
   * ```
   */
  getThreads(roomId: RoomID, options?: GetThreadsOptions): Promise<ThreadsResponse>;
}

/** Makes the operations on related events. */
export function relationsAPI({ http }: Session): RelationsAPI {
  return {
    async getRelations(roomId, eventId, options = {}) {
      const { relType, eventType, from, to, limit, direction, recurse, ...rest } = options;
      checkInteger("limit", limit, 1);
      const query = { from, to, limit, dir: direction, recurse: recurse || undefined };
      if (relType === undefined) {
        if (eventType === undefined) {
          return await http[CALL](relations, { path: { roomId, eventId }, query }, rest);
        }
        throw new ValueError("Cannot get relations: eventType needs relType");
      }
      return eventType === undefined
        ? await http[CALL](relationsOfKind, { path: { roomId, eventId, relType }, query }, rest)
        : await http[CALL](relationsOfType, { path: { roomId, eventId, relType, eventType }, query }, rest);
    },
    async getThreads(roomId, { include, limit, from, ...options } = {}) {
      checkInteger("limit", limit, 1);
      return await http[CALL](threads, { path: { roomId }, query: { include, limit, from } }, options);
    },
  };
}
