/**
 * Events that relate to others: reactions, edits, threads; and which threads the user follows.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#relationship-apis | Relationships API}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4306 | MSC4306}
 * @module
 */

import {
  CALL,
  checkInteger,
  endpoint,
  fields,
  nothing,
  type RequestOptions,
  type Session,
  shaped,
} from "../http/mod.ts";
import { clientEvent, eventList } from "../../types/checks/event_check.ts";
import { number, object, optional, text } from "../../types/checks/shape.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { Open, PaginationDirection, RelationType } from "../../types/enums.ts";
import type { RelationsResponse, ThreadsResponse } from "../../types/events/room_records.ts";
import type { EventID, RoomID, SyncToken } from "../../types/ids.ts";
import { undefinedIfNotFound } from "../../errors/errcodes.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

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
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidrelationseventid | GET /rooms/{roomId}/relations/{eventId}}
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
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidthreads | GET /rooms/{roomId}/threads}
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

const PATH = "/_matrix/client/unstable/io.element.msc4306/rooms/{roomId}/thread/{eventId}/subscription";

const get = endpoint(
  "getThreadSubscription",
  "GET",
  PATH,
  fields<ThreadSubscription>({ automatic: "boolean" }),
);
const set = endpoint("setThreadSubscription", "PUT", PATH, nothing);
const remove = endpoint("removeThreadSubscription", "DELETE", PATH, nothing);

/** That the user follows a thread. */
export interface ThreadSubscription {
  /** Whether a client did so by itself, as for a mention. */
  automatic: boolean;
}

/** Options of {@link ThreadSubscriptionsAPI.setThreadSubscription}. */
export interface SetThreadSubscriptionOptions extends RequestOptions {
  /**
   * The event of the thread for which a client subscribes by itself: the server refuses if the user has
   * unsubscribed after it. Default: the user does so.
   */
  automatic?: EventID;
}

/**
 * Operations on the threads that the user follows: by the push rules of the proposal these notify, and others
 * do not. `client.supports("org.matrix.msc4306")` says whether the homeserver has them.
 *
 * @experimental It uses the unstable form of MSC4306: a minor version may change it.
 */
export interface ThreadSubscriptionsAPI {
  /**
   * Says whether the user follows a thread.
   *
   * @param roomId The room.
   * @param threadId The event that the thread begins with.
   * @param options Request options.
   * @returns How the user came to follow it; undefined if the user does not.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function follows(client: Client, roomId: RoomID, threadId: EventID): Promise<boolean> {
   *   return await client.getThreadSubscription(roomId, threadId) !== undefined;
   * }
   * ```
   */
  getThreadSubscription(
    roomId: RoomID,
    threadId: EventID,
    options?: RequestOptions,
  ): Promise<ThreadSubscription | undefined>;

  /**
   * Follows a thread.
   *
   * @param roomId The room.
   * @param threadId The event that the thread begins with.
   * @param options Whether a client does so by itself, and request options.
   * @throws {NotFoundError} If there is no such thread.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function follow(client: Client, roomId: RoomID, threadId: EventID): Promise<void> {
   *   await client.setThreadSubscription(roomId, threadId);
   * }
   * ```
   */
  setThreadSubscription(
    roomId: RoomID,
    threadId: EventID,
    options?: SetThreadSubscriptionOptions,
  ): Promise<void>;

  /**
   * Follows a thread no more.
   *
   * @param roomId The room.
   * @param threadId The event that the thread begins with.
   * @param options Request options.
   * @throws {UnrecognizedError} If the homeserver has no subscriptions.
   * @experimental It uses the unstable form of MSC4306: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function mute(client: Client, roomId: RoomID, threadId: EventID): Promise<void> {
   *   await client.removeThreadSubscription(roomId, threadId);
   * }
   * ```
   */
  removeThreadSubscription(roomId: RoomID, threadId: EventID, options?: RequestOptions): Promise<void>;
}

/** Makes the operations on threads that the user follows. */
export function threadSubscriptionsAPI({ http }: Session): ThreadSubscriptionsAPI {
  const pathOf = (roomId: RoomID, threadId: EventID) => ({
    roomId: checkIdentifier("roomId", roomId),
    eventId: checkIdentifier("eventId", threadId),
  });
  return {
    getThreadSubscription: async (roomId, threadId, options) =>
      await http[CALL](get, { path: pathOf(roomId, threadId) }, options).catch(undefinedIfNotFound),
    setThreadSubscription: async (roomId, threadId, { automatic, ...options } = {}) =>
      await http[CALL](set, { path: pathOf(roomId, threadId), body: { automatic } }, options),
    removeThreadSubscription: async (roomId, threadId, options) =>
      await http[CALL](remove, { path: pathOf(roomId, threadId) }, options),
  };
}
