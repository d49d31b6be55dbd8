/**
 * Less common operations on rooms: upgrades, summaries, what was around an event or a time, and
 * the rooms that two users share.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-upgrades | Room upgrades}
 * @module
 */

import {
  CALL,
  checkInteger,
  endpoint,
  field,
  fields,
  type RequestOptions,
  type Session,
  shaped,
} from "../http/mod.ts";
import { clientEvent, clientStateEvent, eventList } from "../../types/checks/event_check.ts";
import { list, object, optional, roomId, text } from "../../types/checks/shape.ts";
import type { PaginationDirection } from "../../types/enums.ts";
import type { RoomEventFilter } from "../../types/events/sync_response.ts";
import type { EventContextResponse, TimestampToEventResponse } from "../../types/events/room_records.ts";
import type { EventID, RoomAlias, RoomID, UserID } from "../../types/ids.ts";
import type { RoomSummary } from "../../types/api/public_rooms.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import { printable } from "../../errors/matrix_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";

const ROOM = "/_matrix/client/v3/rooms/{roomId}";
const upgrade = endpoint(
  "upgradeRoom",
  "POST",
  `${ROOM}/upgrade`,
  field<RoomID>("replacement_room", "string"),
  { limit: "createRoom" },
);
const context = endpoint(
  "getEventContext",
  "GET",
  `${ROOM}/context/{eventId}`,
  shaped(object<EventContextResponse>({
    event: optional(clientEvent),
    events_before: optional(eventList(clientEvent)),
    events_after: optional(eventList(clientEvent)),
    state: optional(eventList(clientStateEvent)),
    start: optional(text),
    end: optional(text),
  })),
);
const atTime = endpoint(
  "timestampToEvent",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/timestamp_to_event",
  fields<TimestampToEventResponse>({ event_id: "string", origin_server_ts: "number" }),
);
const summary = endpoint(
  "getRoomSummary",
  "GET",
  "/_matrix/client/v1/room_summary/{roomIdOrAlias}",
  fields<RoomSummary>({ room_id: "string", num_joined_members: "number" }),
);

/** Options of {@link RoomExtrasAPI.upgradeRoom}. */
export interface UpgradeRoomOptions extends RequestOptions {
  /**
   * From room version 12 on: users who are to be creators of the new room beside the caller.
   * Default: none.
   */
  additionalCreators?: readonly UserID[];
}

/** Options of {@link RoomExtrasAPI.getEventContext}. */
export interface GetEventContextOptions extends RequestOptions {
  /** At most how many events before and after it, together. Default: 10. */
  limit?: number;
  /** Which events before and after it. Default: all. */
  filter?: RoomEventFilter;
}

/** Options of {@link RoomExtrasAPI.getRoomSummary}. */
export interface GetRoomSummaryOptions extends RequestOptions {
  /**
   * Servers to ask, because they are in the room. Default: the server finds some itself, if it can.
   */
  servers?: readonly string[];
}

/** Less common operations on rooms. */
export interface RoomExtrasAPI {
  /**
   * Upgrades a room: makes a new one of another version, moves what can be moved, and closes the
   * old one.
   *
   * @param roomId The room.
   * @param newVersion The version of the new room.
   * @param options Request options.
   * @returns The new room.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @throws {UnsupportedRoomVersionError} If the server does not know the version.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidupgrade | POST /rooms/{roomId}/upgrade}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function renew(client: Client, roomId: RoomID): Promise<RoomID> {
   *   const newRoomId = await client.upgradeRoom(roomId, "12");
   *   await client.sendText(newRoomId, "Welcome to the new room");
   *   return newRoomId;
   * }
   * ```
   */
  upgradeRoom(roomId: RoomID, newVersion: string, options?: UpgradeRoomOptions): Promise<RoomID>;

  /**
   * Gets an event, and the events before and after it.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param options How many and which events, and request options.
   * @returns The event, what is around it, and tokens to read on with `getMessages()`.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @throws {ValueError} If `limit` is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidcontexteventid | GET /rooms/{roomId}/context/{eventId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function around(client: Client, roomId: RoomID, eventId: EventID): Promise<string[]> {
   *   const { events_before = [], events_after = [] } = await client.getEventContext(roomId, eventId, { limit: 10 });
   *   return [...events_before.toReversed(), ...events_after].map(({ sender }) => sender);
   * }
   * ```
   */
  getEventContext(
    roomId: RoomID,
    eventId: EventID,
    options?: GetEventContextOptions,
  ): Promise<EventContextResponse>;

  /**
   * Finds the event that is closest to a time.
   *
   * @param roomId The room.
   * @param time The time, in milliseconds since the epoch.
   * @param direction Where to look: `f` at and after the time, `b` at and before it.
   * @param options Request options.
   * @returns The event and its time.
   * @throws {NotFoundError} If there is no event on that side.
   * @throws {ValueError} If the time is negative or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidtimestamp_to_event | GET /rooms/{roomId}/timestamp_to_event}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function firstSince(client: Client, roomId: RoomID, date: Date): Promise<EventID> {
   *   return (await client.timestampToEvent(roomId, date.getTime(), "f")).event_id;
   * }
   * ```
   */
  timestampToEvent(
    roomId: RoomID,
    time: number,
    direction: PaginationDirection,
    options?: RequestOptions,
  ): Promise<TimestampToEventResponse>;

  /**
   * Gets the summary of a room that the user may join, such as its name and topic. Servers before version
   * 1.15 do not know this operation.
   *
   * @param roomIdOrAlias The room's ID, or an alias of it.
   * @param options Servers to ask, and request options.
   * @returns The summary.
   * @throws {NotFoundError} If there is no such room, or the caller may not know it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1room_summaryroomidoralias | GET /room_summary/{roomIdOrAlias}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function describe(client: Client): Promise<string> {
   *   const { name, num_joined_members } = await client.getRoomSummary("#stage:example.org");
   *   return `${name ?? "A room"}, ${num_joined_members} members`;
   * }
   * ```
   */
  getRoomSummary(roomIdOrAlias: RoomID | RoomAlias, options?: GetRoomSummaryOptions): Promise<RoomSummary>;
}

/** Makes the less common operations on rooms. */
export function roomExtrasAPI({ http }: Session): RoomExtrasAPI {
  return {
    async upgradeRoom(roomId, newVersion, { additionalCreators, ...options } = {}) {
      additionalCreators?.forEach((userId) => checkIdentifier("userId", userId));
      const body = { new_version: newVersion, additional_creators: additionalCreators };
      return await http[CALL](upgrade, { path: { roomId }, body }, options);
    },
    async getEventContext(roomId, eventId, { limit, filter, ...options } = {}) {
      checkInteger("limit", limit);
      const query = { limit, filter: filter && JSON.stringify(filter) };
      return await http[CALL](context, { path: { roomId, eventId }, query }, options);
    },
    async timestampToEvent(roomId, time, direction, options) {
      checkInteger("time", time);
      return await http[CALL](atTime, { path: { roomId }, query: { ts: time, dir: direction } }, options);
    },
    getRoomSummary: (roomIdOrAlias, { servers, ...options } = {}) =>
      http[CALL](summary, { path: { roomIdOrAlias }, query: { via: servers } }, options),
  };
}

interface MutualRooms {
  joined: RoomID[];
  next_batch?: string;
}

const mutual = endpoint(
  "getMutualRooms",
  "GET",
  "/_matrix/client/v1/mutual_rooms",
  shaped(object<MutualRooms>({ joined: list(roomId), next_batch: optional(text) })),
);

/** A server that has more pages has no end. */
const MAX_PAGES = 1_000;

/** The operation on rooms that users share. */
export interface MutualRoomsAPI {
  /**
   * Lists the rooms that the user and another one are in, as the server knows them: it needs no sync.
   *
   * @param userId The other user.
   * @param options Request options.
   * @throws {UnrecognizedError} If the homeserver can't say.
   *   `client.stateStore.getSharedRooms()` knows the rooms that syncs have shown.
   * @throws {InvalidParamError} If it is the own user.
   * @throws {ServiceResponseError} If the pages of the server have no end.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/2666 | GET /mutual_rooms}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function banEverywhere(client: Client, userId: UserID, reason: string): Promise<void> {
   *   for (const roomId of await client.getMutualRooms(userId)) await client.banUser(roomId, userId, { reason });
   * }
   * ```
   */
  getMutualRooms(userId: UserID, options?: RequestOptions): Promise<RoomID[]>;
}

function endless(answer: string): ServiceResponseError {
  return new ServiceResponseError(`Cannot getMutualRooms: the server ${answer}; ask who runs it`);
}

/** Makes the operation on rooms that users share. */
export function mutualRoomsAPI({ http }: Session): MutualRoomsAPI {
  return {
    async getMutualRooms(userId, options) {
      checkIdentifier("userId", userId);
      const rooms: RoomID[] = [];
      const tokens = new Set<string>();
      let from: string | undefined;
      while (tokens.size < MAX_PAGES) {
        const query = { user_id: userId, from };
        const { joined, next_batch } = await http[CALL](mutual, { path: {}, query }, options);
        for (const room of joined) rooms.push(room);
        if (next_batch === undefined) return rooms;
        if (tokens.has(next_batch)) throw endless(`names the page "${printable(next_batch, 64)}" twice`);
        tokens.add(from = next_batch);
      }
      throw endless("has more than 1,000 pages");
    },
  };
}
