/**
 * Finding rooms and users: aliases, the room directory, the user directory.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-aliases | Room aliases}
 * @module
 */

import {
  CALL,
  checkInteger,
  endpoint,
  field,
  fields,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import { NotFoundError } from "../../errors/errcodes.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { type Open, RoomDirectoryVisibility, type RoomType } from "../../types/enums.ts";
import type { DirectoryPaginationToken, RoomAlias, RoomID } from "../../types/ids.ts";
import type {
  PublicRoomsResponse,
  RoomAliasResponse,
  UserSearchResponse,
} from "../../types/api/public_rooms.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

const ALIAS_PATH = "/_matrix/client/v3/directory/room/{roomAlias}";
const ALIASES_PATH = "/_matrix/client/v3/rooms/{roomId}/aliases";
const VISIBILITY_PATH = "/_matrix/client/v3/directory/list/room/{roomId}";
const ROOMS_PATH = "/_matrix/client/v3/publicRooms";

const publicRooms = fields<PublicRoomsResponse>(
  { chunk: "array", next_batch: "string?", prev_batch: "string?", total_room_count_estimate: "number?" },
);

const addAlias = endpoint("addRoomAlias", "PUT", ALIAS_PATH, nothing);
const removeAlias = endpoint("removeRoomAlias", "DELETE", ALIAS_PATH, nothing);
const getAlias = endpoint(
  "getRoomAlias",
  "GET",
  ALIAS_PATH,
  fields<RoomAliasResponse>({ room_id: "string", servers: "array?" }, { servers: [] }),
);
const getAliases = endpoint("getRoomAliases", "GET", ALIASES_PATH, field<RoomAlias[]>("aliases", "array"));
const getVisibility = endpoint("getRoomDirectoryVisibility", "GET", VISIBILITY_PATH, visibilityOf);
const setVisibility = endpoint("setRoomDirectoryVisibility", "PUT", VISIBILITY_PATH, nothing);
const listRooms = endpoint("getRoomDirectory", "GET", ROOMS_PATH, publicRooms);
// Searches change nothing, whatever their method.
const searchRooms = endpoint("getRoomDirectory", "POST", ROOMS_PATH, publicRooms, { idempotent: true });
const searchUsers = endpoint(
  "searchUsers",
  "POST",
  "/_matrix/client/v3/user_directory/search",
  fields<UserSearchResponse>({ results: "array", limited: "boolean?" }, { limited: false }),
  { idempotent: true },
);

/** Options of {@link DirectoryAPI.addRoomAlias}. */
export interface AddRoomAliasOptions extends RequestOptions {
  /** Whether to take the alias away from the room that has it, if one does. Default: false. */
  override?: boolean;
}

/** Options of {@link DirectoryAPI.removeRoomAlias}. */
export interface RemoveRoomAliasOptions extends RequestOptions {
  /** Whether it is an error if there is no such alias. Default: false. */
  raise404?: boolean;
}

/** Options of {@link DirectoryAPI.getRoomDirectory}. */
export interface GetRoomDirectoryOptions extends RequestOptions {
  /** At most how many rooms, at least 1. Default: the server decides. */
  limit?: number;
  /** The server whose directory to read. Default: the user's own. */
  server?: string;
  /**
   * The page: `next_batch` or `prev_batch` of another; which of the two decides the direction.
   * Default: the first page.
   */
  since?: DirectoryPaginationToken;
  /** What to look for in names, topics and aliases. Default: nothing, all rooms. */
  searchQuery?: string;
  /** Whether to list the rooms of all third-party networks. Default: false. */
  includeAllNetworks?: boolean;
  /**
   * The third-party network whose rooms to list; not together with `includeAllNetworks`. Default:
   * Matrix itself.
   */
  thirdPartyInstanceId?: string;
  /** Which types of room to list; `null` stands for rooms without a type. Default: all. */
  roomTypes?: readonly (Open<RoomType> | null)[];
}

/** Options of {@link DirectoryAPI.searchUsers}. */
export interface SearchUsersOptions extends RequestOptions {
  /** At most how many users, at least 1. Default: 10. */
  limit?: number;
}

/**
 * Operations on aliases and directories.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if an identifier can't be one.
 */
export interface DirectoryAPI {
  /**
   * Gives a room an alias on the user's own server.
   *
   * @param roomId The room.
   * @param aliasLocalpart The local part of the alias: `stage` for `#stage:example.org`.
   * @param options Whether to take it from another room, and request options.
   * @throws {MatrixRequestError} With status 409 if a room has the alias already, without `override`.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3directoryroomroomalias | PUT /directory/room/{roomAlias}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.addRoomAlias(roomId, "stage", { override: true });
   * console.assert((await client.getRoomAlias("#stage:localhost")).room_id === roomId);
   * ```
   */
  addRoomAlias(roomId: RoomID, aliasLocalpart: string, options?: AddRoomAliasOptions): Promise<void>;

  /**
   * Removes an alias of the user's own server.
   *
   * @param aliasLocalpart The local part of the alias.
   * @param options Whether it is an error if there is no such alias, and request options.
   * @throws {NotFoundError} If there is no such alias, and `raise404` is set.
   * @throws {ForbiddenError} If the user did not create it and has no other right to remove it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3directoryroomroomalias | DELETE /directory/room/{roomAlias}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function closeStage(client: Client): Promise<void> {
   *   await client.removeRoomAlias("stage"); // no error if there is no #stage
   * }
   * ```
   */
  removeRoomAlias(aliasLocalpart: string, options?: RemoveRoomAliasOptions): Promise<void>;

  /**
   * Gets the room ID that an alias leads to. The alias's own server is asked, if it is another one.
   *
   * @param roomAlias The alias.
   * @param options Request options.
   * @returns The room, and servers that know it.
   * @throws {NotFoundError} If there is no such alias.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3directoryroomroomalias | GET /directory/room/{roomAlias}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function whereIsStage(client: Client): Promise<RoomID> {
   *   const { room_id } = await client.getRoomAlias("#stage:example.org");
   *   return room_id;
   * }
   * ```
   */
  getRoomAlias(roomAlias: RoomAlias, options?: RequestOptions): Promise<RoomAliasResponse>;

  /**
   * Lists the aliases that a room has on the user's own server.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns The aliases; they may not be in the room's state.
   * @throws {ForbiddenError} If the user is not in the room, and its history is not public.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidaliases | GET /rooms/{roomId}/aliases}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function firstAlias(client: Client, roomId: RoomID): Promise<string> {
   *   const [alias] = await client.getRoomAliases(roomId);
   *   return alias ?? roomId;
   * }
   * ```
   */
  getRoomAliases(roomId: RoomID, options?: RequestOptions): Promise<RoomAlias[]>;

  /**
   * Reads a page of a room directory.
   *
   * @param options Which rooms and how many, whose directory, which page, and request options.
   * @returns The rooms, the tokens of the pages around, and about how many there are in all.
   * @throws {ValueError} If a third-party network is named and all of them are asked for, or
   *   `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3publicrooms | POST /publicRooms}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function listAll(client: Client): Promise<void> {
   *   let since: string | undefined;
   *   do {
   *     const page = await client.getRoomDirectory({ since, searchQuery: "theatre" });
   *     for (const { name, num_joined_members } of page.chunk) console.log(name, num_joined_members);
   *     since = page.next_batch;
   *   } while (since !== undefined);
   * }
   * ```
   */
  getRoomDirectory(options?: GetRoomDirectoryOptions): Promise<PublicRoomsResponse>;

  /**
   * Asks whether the room directory lists a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns `public` if it does.
   * @throws {NotFoundError} If the server does not know the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3directorylistroomroomid | GET /directory/list/room/{roomId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isListed(client: Client, roomId: RoomID): Promise<boolean> {
   *   return await client.getRoomDirectoryVisibility(roomId) === "public";
   * }
   * ```
   */
  getRoomDirectoryVisibility(roomId: RoomID, options?: RequestOptions): Promise<RoomDirectoryVisibility>;

  /**
   * Sets whether the room directory lists a room.
   *
   * @param roomId The room.
   * @param visibility `public` if it is to.
   * @param options Request options.
   * @throws {ForbiddenError} If the server does not let the user.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3directorylistroomroomid | PUT /directory/list/room/{roomId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function hide(client: Client, roomId: RoomID): Promise<void> {
   *   await client.setRoomDirectoryVisibility(roomId, "private");
   * }
   * ```
   */
  setRoomDirectoryVisibility(
    roomId: RoomID,
    visibility: RoomDirectoryVisibility,
    options?: RequestOptions,
  ): Promise<void>;

  /**
   * Searches for users by ID and display name, without regard to case: those of the own server, and
   * those in rooms that it knows, as far as it decides to look. The header `Accept-Language`, set
   * in `headers`, may change how names compare.
   *
   * @param searchQuery What to look for.
   * @param options At most how many users, and request options.
   * @returns The users, the best match first, and whether there are more.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3user_directorysearch | POST /user_directory/search}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function find(client: Client, name: string): Promise<UserID[]> {
   *   const { results } = await client.searchUsers(name, { limit: 5 });
   *   return results.map(({ user_id }) => user_id);
   * }
   * ```
   */
  searchUsers(searchQuery: string, options?: SearchUsersOptions): Promise<UserSearchResponse>;
}

/** Makes the operations on aliases and directories. */
export function directoryAPI(session: Session): DirectoryAPI {
  const { http } = session;

  const aliasPath = async (localpart: string, options: RequestOptions): Promise<{ roomAlias: RoomAlias }> => {
    checkIdentifier("aliasLocalpart", localpart);
    return { roomAlias: `#${localpart}:${await session.serverName(options)}` };
  };

  const removeRoomAlias: DirectoryAPI["removeRoomAlias"] = async (
    aliasLocalpart,
    { raise404 = false, ...options } = {},
  ) => {
    try {
      await http[CALL](removeAlias, { path: await aliasPath(aliasLocalpart, options) }, options);
    } catch (error) {
      if (raise404 || !(error instanceof NotFoundError)) throw error;
    }
  };

  return {
    async addRoomAlias(roomId, aliasLocalpart, { override = false, ...options } = {}) {
      checkIdentifier("roomId", roomId);
      const call = { path: await aliasPath(aliasLocalpart, options), body: { room_id: roomId } };
      try {
        await http[CALL](addAlias, call, options);
      } catch (error) {
        if (!override || !(error instanceof MatrixRequestError) || error.status !== 409) throw error;
        await removeRoomAlias(aliasLocalpart, options);
        await http[CALL](addAlias, call, options);
      }
    },
    removeRoomAlias,
    getRoomAlias: (roomAlias, options) => http[CALL](getAlias, { path: { roomAlias } }, options),
    getRoomAliases: (roomId, options) => http[CALL](getAliases, { path: { roomId } }, options),
    async getRoomDirectory({
      limit,
      server,
      since,
      searchQuery,
      includeAllNetworks = false,
      thirdPartyInstanceId,
      roomTypes,
      ...options
    } = {}) {
      checkInteger("limit", limit, 1);
      if (includeAllNetworks && thirdPartyInstanceId !== undefined) {
        throw new ValueError(
          "Cannot list rooms: thirdPartyInstanceId names one network, includeAllNetworks all of them",
        );
      }
      const plain = !searchQuery && !includeAllNetworks && thirdPartyInstanceId === undefined &&
        roomTypes === undefined;
      if (plain) return await http[CALL](listRooms, { path: {}, query: { limit, since, server } }, options);
      const filter = { generic_search_term: searchQuery || undefined, room_types: roomTypes };
      const body = {
        limit,
        since,
        filter,
        include_all_networks: includeAllNetworks,
        third_party_instance_id: thirdPartyInstanceId,
      };
      return await http[CALL](searchRooms, { path: {}, query: { server }, body }, options);
    },
    getRoomDirectoryVisibility: (roomId, options) => http[CALL](getVisibility, { path: { roomId } }, options),
    setRoomDirectoryVisibility: (roomId, visibility, options) =>
      http[CALL](setVisibility, { path: { roomId }, body: { visibility } }, options),
    async searchUsers(searchQuery, { limit = 10, ...options } = {}) {
      checkInteger("limit", limit, 1);
      return await http[CALL](searchUsers, { path: {}, body: { search_term: searchQuery, limit } }, options);
    },
  };
}

function visibilityOf(body: unknown, request: string): RoomDirectoryVisibility {
  const visibility = field<string>("visibility", "string")(body, request);
  if (visibility === RoomDirectoryVisibility.PUBLIC || visibility === RoomDirectoryVisibility.PRIVATE) {
    return visibility;
  }
  throw new ServiceResponseError(
    `Cannot use the answer to ${request}: "visibility" is neither public nor private`,
  );
}
