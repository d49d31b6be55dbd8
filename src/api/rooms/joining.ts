/**
 * Joining and knocking: the ways into a room that may lead through other servers.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#joining-rooms | Joining rooms}
 * @module
 */

import {
  CALL,
  checkInteger,
  endpoint,
  field,
  isPassing,
  type Query,
  type RequestOptions,
  type RetryPolicy,
  type Session,
} from "../http/mod.ts";
import type { RoomAlias, RoomID } from "../../types/ids.ts";
import type { ThirdPartySigned } from "../../types/events/room_records.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

const roomIdOf = field<RoomID>("room_id", "string");

// Both may be repeated: asking to be where one is already changes nothing.
const join = endpoint("joinRoom", "POST", "/_matrix/client/v3/join/{roomIdOrAlias}", roomIdOf, {
  idempotent: true,
});
const knock = endpoint("knockRoom", "POST", "/_matrix/client/v3/knock/{roomIdOrAlias}", roomIdOf, {
  idempotent: true,
});

/** How `joinRoom()` waits: a remote server that does not answer now may do so in half a minute. */
const JOIN_RETRY: Partial<RetryPolicy> = {
  base: 5_000,
  cap: 40_000,
  retryable: isPassing,
};

/** How to join by an ID or alias. */
export interface JoinRoomOptions extends RequestOptions {
  /**
   * Servers to join through, because they are in the room. Default: the server finds some itself,
   * if it can.
   */
  servers?: readonly string[];
  /** The proof that goes with an invitation by email address or phone number. */
  thirdPartySigned?: ThirdPartySigned;
  /** Why, for the member event. Default: empty, none. */
  reason?: string;
  /** How many tries there are after the first; 0 means a single one. Default: 4. */
  maxRetries?: number;
}

/** How to knock, and what to say. */
export interface KnockRoomOptions extends RequestOptions {
  /**
   * Servers to knock through, because they are in the room. Default: the server finds some itself,
   * if it can.
   */
  servers?: readonly string[];
  /** Why, for the member event. Default: empty, none. */
  reason?: string;
}

/**
 * Operations that lead into a room.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if what is given is neither a room ID nor an alias.
 */
export interface JoiningAPI {
  /**
   * Joins a room, or takes an invitation to it.
   *
   * Joining a room of other servers may take long and fail for reasons that pass. Lost connections,
   * timeouts and the statuses 429 and 500 to 599 are therefore tried again: after about 5, 10, 20
   * and 40 seconds, or when the server says. Any other refusal is final.
   *
   * @param roomIdOrAlias The room's ID, or an alias of it.
   * @param options Servers to join through, number of tries, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the user is not invited and the room is not public, or the user is
   * banned: then Synapse gives its subclass `BadStateError`.
   * @throws {NotFoundError} If there is no such alias.
   * @throws {ValueError} If it is neither a room ID nor an alias, or `maxRetries` is negative or no
   *   integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3joinroomidoralias | POST /join/{roomIdOrAlias}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({ aliasLocalpart: "stage", preset: "public_chat" });
   * const joined = await client.joinRoom("#stage:localhost", { maxRetries: 0 });
   * console.assert(joined === roomId);
   * ```
   */
  joinRoom(roomIdOrAlias: RoomID | RoomAlias, options?: JoinRoomOptions): Promise<RoomID>;

  /**
   * Asks to be invited to a room.
   *
   * @param roomIdOrAlias The room's ID, or an alias of it.
   * @param options Reason, servers to knock through, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the room takes no knocks, or the user is banned: then Synapse gives
   *   its subclass `BadStateError`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3knockroomidoralias | POST /knock/{roomIdOrAlias}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function askToJoin(client: Client): Promise<void> {
   *   await client.knockRoom("#stage:example.org", { reason: "I play the lead" });
   * }
   * ```
   */
  knockRoom(roomIdOrAlias: RoomID | RoomAlias, options?: KnockRoomOptions): Promise<RoomID>;
}

/**
 * Servers by both names: `via` was called `server_name` before version 1.12, and nothing need be asked first.
 */
function through(servers: readonly string[] = []): Query {
  return servers.length === 0 ? {} : { via: servers, server_name: servers };
}

/** Makes the operations that lead into a room. */
export function joiningAPI(session: Session): JoiningAPI {
  const { http } = session;

  return {
    async joinRoom(roomIdOrAlias, { servers, thirdPartySigned, reason, maxRetries = 4, ...options } = {}) {
      checkIdentifier("roomIdOrAlias", roomIdOrAlias);
      checkInteger("maxRetries", maxRetries);
      const query = through(servers);
      const body = { third_party_signed: thirdPartySigned, reason: reason || undefined };
      const retry = options.retry === false ? false : { ...JOIN_RETRY, maxRetries, ...options.retry };
      return await http[CALL](join, { path: { roomIdOrAlias }, query, body }, { ...options, retry });
    },
    async knockRoom(roomIdOrAlias, { servers, reason, ...options } = {}) {
      checkIdentifier("roomIdOrAlias", roomIdOrAlias);
      const query = through(servers);
      const body = { reason: reason || undefined };
      return await http[CALL](knock, { path: { roomIdOrAlias }, query, body }, options);
    },
  };
}
