/**
 * The user's private data, of the account and of rooms, and the tags of rooms, which are part of
 * it.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#client-config | Client config}
 * @module
 */

import {
  CALL,
  calledAs,
  checkedType,
  type ContentAs,
  endpoint,
  fields,
  incomingContent,
  jsonObject,
  nothing,
  outgoingEvent,
  type RequestOptions,
  type SendableContent,
  type Session,
  shaped,
} from "../http/mod.ts";
import { NotFoundError } from "../../errors/errcodes.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { RoomTagInfo, TagContent } from "../../types/content/account_data_content.ts";
import { tags } from "../../types/checks/account_data_shapes.ts";
import { canBeOfClass, type EventType } from "../../types/events/event_type.ts";
import type { Filter, SyncResponse } from "../../types/events/sync_response.ts";
import type { RoomID } from "../../types/ids.ts";
import { PresenceState } from "../../types/enums.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import { freshFilter } from "../server/server.ts";

const GLOBAL_PATH = "/_matrix/client/v3/user/{userId}/account_data/{type}";
const ROOM_PATH = "/_matrix/client/v3/user/{userId}/rooms/{roomId}/account_data/{type}";
const TAGS_PATH = "/_matrix/client/v3/user/{userId}/rooms/{roomId}/tags";

const getGlobal = endpoint("getAccountData", "GET", GLOBAL_PATH, jsonObject);
const getOfRoom = endpoint("getAccountData", "GET", ROOM_PATH, jsonObject);
const setGlobal = endpoint("setAccountData", "PUT", GLOBAL_PATH, nothing);
const setOfRoom = endpoint("setAccountData", "PUT", ROOM_PATH, nothing);
const deleteGlobal = endpoint("deleteAccountData", "PUT", GLOBAL_PATH, nothing);
const deleteOfRoom = endpoint("deleteAccountData", "PUT", ROOM_PATH, nothing);
/** An initial sync with nothing else in it, which no position depends on: it may be repeated. */
const listGlobal = endpoint(
  "listAccountData",
  "GET",
  "/_matrix/client/v3/sync",
  fields<Pick<SyncResponse, "account_data">>({ account_data: "object?" }),
);
const getTags = endpoint("getRoomTags", "GET", TAGS_PATH, shaped(tags));
const setTag = endpoint("setRoomTag", "PUT", `${TAGS_PATH}/{tag}`, nothing);
const removeTag = endpoint("removeRoomTag", "DELETE", `${TAGS_PATH}/{tag}`, nothing);

/** Options of the operations on account data. */
export interface AccountDataOptions extends RequestOptions {
  /** The room that the data belongs to. Default: none, it belongs to the account. */
  roomId?: RoomID;
}

/** Options of {@link AccountDataAPI.setRoomTag}. */
export interface SetRoomTagOptions extends RequestOptions {
  /** Where the room stands among those of the tag. Default: nothing is said. */
  info?: RoomTagInfo;
}

/**
 * Operations on the user's private data, which only the user's own devices see, and the server.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if what is given can't be a room ID.
 */
export interface AccountDataAPI {
  /**
   * Gets account data, of all rooms or of one.
   *
   * @param type The type.
   * @param options The room, and request options.
   * @returns The data, without what may be absent and is not what its type says.
   * @throws {NotFoundError} If there is none.
   * @throws {MalformedContentError} If it is not what its type says. As it was kept it is answered
   *   for a definition without a schema.
   * @throws {ValueError} If the type is empty, or of events of another class.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridaccount_datatype | GET /user/{userId}/account_data/{type}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ignoredUsers(client: Client): Promise<string[]> {
   *   const { ignored_users } = await client.getAccountData("m.ignored_user_list");
   *   return Object.keys(ignored_users);
   * }
   * ```
   */
  getAccountData<const T extends EventType>(
    type: T,
    options?: AccountDataOptions,
  ): Promise<ContentAs<T, "account_data">>;

  /**
   * Sets account data, which replaces that of the same type.
   *
   * @param type The type. If the application defined it, the data is checked first.
   * @param data The data.
   * @param options The room, and request options.
   * @throws {MatrixRequestError} Of the types that the server keeps itself: `m.fully_read`,
   *   `m.push_rules`.
   * @throws {ValueError} If the type is empty, or of events of another class, or the data is
   *   refused.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3useruseridaccount_datatype | PUT /user/{userId}/account_data/{type}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setAccountData("com.example.settings", { volume: 11 });
   * const { volume } = await client.getAccountData("com.example.settings");
   * console.assert(volume === 11);
   * ```
   */
  setAccountData<const T extends EventType>(
    type: T,
    data: SendableContent<T, "account_data">,
    options?: AccountDataOptions,
  ): Promise<void>;

  /**
   * Deletes private data: there is nothing under the type from then on. Does nothing if there is none.
   * Servers that can't delete it keep it without content, as deleting clients do.
   *
   * @param type The type.
   * @param options The room, and request options.
   * @throws {MatrixRequestError} Of the types that the server keeps itself: `m.fully_read`,
   *   `m.push_rules`.
   * @throws {ValueError} If the type is empty, or of events of another class.
   * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/3391 | MSC3391}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function forgetSettings(client: Client): Promise<void> {
   *   await client.deleteAccountData("com.example.settings");
   * }
   * ```
   */
  deleteAccountData(type: EventType, options?: AccountDataOptions): Promise<void>;

  /**
   * Lists the private data of the account: all of it in one request, an initial sync with nothing else.
   *
   * @param options Request options.
   * @returns The data by type, as it was kept.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3sync | GET /sync}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setAccountData("com.example.settings", { volume: 11 });
   * const all = await client.listAccountData();
   * console.assert(all.get("com.example.settings")?.volume === 11);
   * ```
   */
  listAccountData(options?: RequestOptions): Promise<ReadonlyMap<string, JsonObject>>;

  /**
   * Lists the tags that the user put on a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns The tags by name, in `tags`, as the room's `m.tag` has them; none if the room has no
   *   tags.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridroomsroomidtags | GET /user/{userId}/rooms/{roomId}/tags}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isFavourite(client: Client, roomId: RoomID): Promise<boolean> {
   *   return "m.favourite" in ((await client.getRoomTags(roomId)).tags ?? {});
   * }
   * ```
   */
  getRoomTags(roomId: RoomID, options?: RequestOptions): Promise<TagContent>;

  /**
   * Gets a tag that the user put on a room.
   *
   * @param roomId The room.
   * @param tag The tag, such as `m.favourite`.
   * @param options Request options.
   * @returns What is known of the room under the tag; undefined if the room does not have it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3useruseridroomsroomidtags | GET /user/{userId}/rooms/{roomId}/tags}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isFavourite(client: Client, roomId: RoomID): Promise<boolean> {
   *   return await client.getRoomTag(roomId, "m.favourite") !== undefined;
   * }
   * ```
   */
  getRoomTag(roomId: RoomID, tag: string, options?: RequestOptions): Promise<RoomTagInfo | undefined>;

  /**
   * Puts a tag on a room.
   *
   * @param roomId The room.
   * @param tag The tag: `m.favourite`, `m.lowpriority`, or the user's own behind `u.`.
   * @param options Where the room stands among those of the tag, and request options.
   * @throws {ValueError} If the tag is empty, or can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3useruseridroomsroomidtagstag | PUT /user/{userId}/rooms/{roomId}/tags/{tag}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.setRoomTag(roomId, "m.favourite", { info: { order: 0.25 } });
   * console.assert((await client.getRoomTag(roomId, "m.favourite"))?.order === 0.25);
   * ```
   */
  setRoomTag(roomId: RoomID, tag: string, options?: SetRoomTagOptions): Promise<void>;

  /**
   * Takes a tag off a room.
   *
   * @param roomId The room.
   * @param tag The tag.
   * @param options Request options.
   * @throws {ValueError} If the tag is empty, or can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3useruseridroomsroomidtagstag | DELETE /user/{userId}/rooms/{roomId}/tags/{tag}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function unfavourite(client: Client, roomId: RoomID): Promise<void> {
   *   await client.removeRoomTag(roomId, "m.favourite");
   * }
   * ```
   */
  removeRoomTag(roomId: RoomID, tag: string, options?: RequestOptions): Promise<void>;
}

/** Makes the operations on the user's private data. */
export function accountDataAPI(session: Session): AccountDataAPI {
  const { http } = session;

  /** The parameters of a path below the user's and, if it is of a room, the room's. */
  const tagsPath = async (
    roomId: RoomID,
    options?: RequestOptions,
  ): Promise<{ userId: string; roomId: RoomID }> => {
    checkIdentifier("roomId", roomId);
    return { userId: await session.userId(options), roomId };
  };

  const getRoomTags: AccountDataAPI["getRoomTags"] = async (roomId, options) => {
    try {
      const found = await http[CALL](getTags, { path: await tagsPath(roomId, options) }, options);
      return { ...found, tags: found.tags ?? {} };
    } catch (error) {
      if (error instanceof NotFoundError) return { tags: {} };
      throw error;
    }
  };

  return {
    async getAccountData<const T extends EventType>(
      type: T,
      { roomId, ...options }: AccountDataOptions = {},
    ) {
      const name = accountDataType(type);
      if (roomId !== undefined) checkIdentifier("roomId", roomId);
      const path = { userId: await session.userId(options), type: name };
      const data = roomId === undefined
        ? await http[CALL](getGlobal, { path }, options)
        : await http[CALL](getOfRoom, { path: { ...path, roomId } }, options);
      return await incomingContent(type, "account_data", data) as ContentAs<T, "account_data">;
    },
    async setAccountData(type, data, { roomId, ...options } = {}) {
      accountDataType(type);
      if (roomId !== undefined) checkIdentifier("roomId", roomId);
      const { eventType, content: body } = await outgoingEvent(type, "account_data", data);
      const path = { userId: await session.userId(options), type: eventType };
      await (roomId === undefined
        ? http[CALL](setGlobal, { path, body }, options)
        : http[CALL](setOfRoom, { path: { ...path, roomId }, body }, options));
    },
    async deleteAccountData(type, { roomId, ...options } = {}) {
      const name = accountDataType(type);
      if (roomId !== undefined) checkIdentifier("roomId", roomId);
      const path = { userId: await session.userId(options), type: name };
      await (roomId === undefined
        ? http[CALL](deleteGlobal, { path, body: {} }, options)
        : http[CALL](deleteOfRoom, { path: { ...path, roomId }, body: {} }, options));
    },
    async listAccountData(options) {
      const query = {
        timeout: 0,
        filter: freshFilter(ACCOUNT_DATA_ALONE),
        set_presence: PresenceState.OFFLINE,
      }; // it stays
      const { account_data } = await http[CALL](listGlobal, { path: {}, query }, options);
      const events: unknown = account_data?.events;
      return new Map((Array.isArray(events) ? events : []).flatMap((event: unknown) => {
        if (!isJsonObject(event) || typeof event.type !== "string") return [];
        return isJsonObject(event.content) ? [[event.type, event.content]] : [];
      }));
    },
    getRoomTags,
    async getRoomTag(roomId, tag, options) {
      const { tags } = await getRoomTags(roomId, calledAs(options, "getRoomTag"));
      return tags && Object.hasOwn(tags, tag) ? tags[tag] : undefined;
    },
    async setRoomTag(roomId, tag, { info, ...options } = {}) {
      await http[CALL](setTag, { path: { ...await tagsPath(roomId, options), tag }, body: info }, options);
    },
    async removeRoomTag(roomId, tag, options) {
      await http[CALL](removeTag, { path: { ...await tagsPath(roomId, options), tag } }, options);
    },
  };
}

/** What an initial sync is to have of which only the account data is wanted. */
const ACCOUNT_DATA_ALONE: Filter = { presence: { types: [] }, room: { rooms: [] } };

/** The name of a type that account data can have. */
function accountDataType(type: EventType): string {
  const name = checkedType(type, "account_data");
  if (canBeOfClass(type, "account_data")) return name;
  throw new ValueError(`Cannot use ${name} as account data: events of this type are of another class`);
}
