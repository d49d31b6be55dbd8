/**
 * Which threads the user follows.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4306 | MSC4306}
 * @module
 */

import { CALL, endpoint, fields, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import { NotFoundError } from "../../errors/request_errcodes.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { EventID, RoomID } from "../../types/ids.ts";

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
   * Whether the user follows a thread.
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
    async getThreadSubscription(roomId, threadId, options) {
      try {
        return await http[CALL](get, { path: pathOf(roomId, threadId) }, options);
      } catch (error) {
        if (error instanceof NotFoundError) return undefined;
        throw error;
      }
    },
    setThreadSubscription: async (roomId, threadId, { automatic, ...options } = {}) =>
      await http[CALL](set, { path: pathOf(roomId, threadId), body: { automatic } }, options),
    removeThreadSubscription: async (roomId, threadId, options) =>
      await http[CALL](remove, { path: pathOf(roomId, threadId) }, options),
  };
}
