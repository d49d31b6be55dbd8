/**
 * Creating rooms, and listing the own ones and those of a space.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#creation | Creation of rooms}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#spaces | Spaces}
 * @module
 */

import {
  CALL,
  checkInteger,
  endpoint,
  field,
  type RequestOptions,
  type Session,
  shaped,
} from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { EncryptionAlgorithm, RoomCreatePreset, RoomDirectoryVisibility } from "../../types/enums.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { RoomPowerLevelsContent } from "../../types/content/room_state_content.ts";
import type { InitialStateEvent } from "../../types/events/room_records.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import type { SpaceHierarchyResponse, SpaceHierarchyRoom } from "../../types/api/public_rooms.ts";
import { list, type Members, object, optional, text } from "../../types/checks/shape.ts";
import { childEvent } from "../../types/checks/event_check.ts";

export {
  type GetEventContextOptions,
  type GetRoomSummaryOptions,
  type MutualRoomsAPI,
  mutualRoomsAPI,
  type RoomExtrasAPI,
  roomExtrasAPI,
  type UpgradeRoomOptions,
} from "./room_extras.ts";
export {
  type GetMembersOptions,
  type GetStateEventOptions,
  type RoomStateAPI,
  roomStateAPI,
  type SendStateEventOptions,
  type StateContentAs,
  type StateEventAnswer,
} from "./state_events.ts";
export {
  type JoinRoomByIdOptions,
  type MembershipAPI,
  membershipAPI,
  type MembershipOptions,
  type SendMemberEventOptions,
} from "./membership.ts";
export {
  type AddRoomAliasOptions,
  type DirectoryAPI,
  directoryAPI,
  type GetRoomDirectoryOptions,
  type RemoveRoomAliasOptions,
  type SearchUsersOptions,
} from "./directory.ts";
export { type JoiningAPI, joiningAPI, type JoinRoomOptions, type KnockRoomOptions } from "./joining.ts";

// Not repeated: a creation whose answer was lost would leave two rooms.
const create = endpoint(
  "createRoom",
  "POST",
  "/_matrix/client/v3/createRoom",
  field<RoomID>("room_id", "string"),
);
const joined = endpoint(
  "getJoinedRooms",
  "GET",
  "/_matrix/client/v3/joined_rooms",
  field<RoomID[]>("joined_rooms", "array"),
);

/** Options of {@link RoomsAPI.createRoom}. */
export interface CreateRoomOptions extends RequestOptions {
  /**
   * The local part of an alias to create on the own server: `stage` for `#stage:example.org`.
   * Default: none.
   */
  aliasLocalpart?: string;
  /** Whether the room directory lists the room. Default: `private`, it does not. */
  visibility?: RoomDirectoryVisibility;
  /** The set of state that the room starts from. Default: `private_chat`, by invitation only. */
  preset?: RoomCreatePreset;
  /** The room's name. Default: none. */
  name?: string;
  /** The room's topic. Default: none. */
  topic?: string;
  /** Whether the invitations are to a direct chat. Default: false. */
  isDirect?: boolean;
  /** Users to invite. Default: none. */
  invitees?: readonly UserID[];
  /** Users to invite, by the name that Matrix has for `invitees`. Default: none. */
  invite?: readonly UserID[];
  /**
   * Whether the room is encrypted from its first message on, for good. What its initial state says of
   * `m.room.encryption` goes before it. Default: as the homeserver has it, mostly not.
   */
  encrypted?: boolean;
  /** State that goes before the preset's; `name` and `topic` go before it. Default: none. */
  initialState?: readonly InitialStateEvent[];
  /** The room's version. Default: the homeserver's. */
  roomVersion?: string;
  /** More of the content of `m.room.create`, such as `m.federate` or `type`. Default: none. */
  creationContent?: Readonly<JsonObject>;
  /** Power levels that go before the preset's. Default: none. */
  powerLevelContentOverride?: Partial<RoomPowerLevelsContent>;
  /** More members of the request's body; all of the above go before them. Default: none. */
  customRequestFields?: Readonly<JsonObject>;
}

/** Operations on rooms as a whole. */
export interface RoomsAPI {
  /**
   * Creates a room and joins it.
   *
   * A creation is not repeated when its answer is lost, for that might leave two rooms,
   * unless `retry` says how often.
   *
   * @param options What the room is to be, and request options.
   * @returns The room's ID: `client.room(roomId)` does things there.
   * @throws {RoomInUseError} If the alias is taken.
   * @throws {UnsupportedRoomVersionError} If the server does not know the room version.
   * @throws {InvalidRoomStateError} If the initial state or the power levels make no valid room.
   * @throws {ServiceResponseError} If the answer names no room.
   * @throws {ValueError} If an invitee is no user ID, the alias's local part is more than that,
   *   or `encrypted` is no boolean.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3createroom | POST /createRoom}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({
   *   name: "Dressing room",
   *   encrypted: true,
   *   invite: ["@bob:localhost"],
   *   initialState: [{ type: "m.room.history_visibility", content: { history_visibility: "invited" } }],
   * });
   * console.assert((await client.getJoinedRooms()).includes(roomId));
   * ```
   */
  createRoom(options?: CreateRoomOptions): Promise<RoomID>;

  /**
   * Lists the rooms that the user has joined.
   *
   * @param options Request options.
   * @returns The IDs of the rooms, in no particular order.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3joined_rooms | GET /joined_rooms}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function announce(client: Client, text: string): Promise<void> {
   *   for (const roomId of await client.getJoinedRooms()) await client.sendText(roomId, text);
   * }
   * ```
   */
  getJoinedRooms(options?: RequestOptions): Promise<RoomID[]>;
}

/** Makes the operations on rooms as a whole. */
export function roomsAPI({ http }: Session): RoomsAPI {
  return {
    async createRoom({
      aliasLocalpart,
      visibility = RoomDirectoryVisibility.PRIVATE,
      preset = RoomCreatePreset.PRIVATE,
      name,
      topic,
      isDirect = false,
      invite,
      invitees = invite,
      encrypted,
      initialState,
      roomVersion,
      creationContent,
      powerLevelContentOverride,
      customRequestFields,
      ...options
    } = {}) {
      if (aliasLocalpart) checkIdentifier("aliasLocalpart", aliasLocalpart);
      if (invite !== undefined && invitees !== invite) {
        throw new ValueError("Cannot create a room: it has both invite and invitees; leave out one of them");
      }
      if (invitees !== undefined && !Array.isArray(invitees)) {
        throw new ValueError("Cannot create a room: invitees must be a list of user IDs");
      }
      invitees?.forEach((invitee) => checkIdentifier("userId", invitee));
      const { room_version: _versionHasItsOwnField, ...creation } = creationContent ?? {};
      const body = {
        ...customRequestFields,
        visibility,
        preset,
        is_direct: isDirect,
        ...present({
          room_alias_name: aliasLocalpart,
          name,
          topic,
          invite: invitees,
          initial_state: initialStateOf({ encrypted, initialState, customRequestFields }),
          room_version: roomVersion,
          creation_content: creationContent && creation,
          power_level_content_override: powerLevelContentOverride,
        }),
      };
      return await http[CALL](create, { path: {}, body }, options);
    },
    getJoinedRooms: (options) => http[CALL](joined, { path: {} }, options),
  };
}

/** The state that a room starts from, with its encryption if that is asked for and not in it. */
export function initialStateOf(
  { encrypted, initialState, customRequestFields: custom }: CreateRoomOptions,
): readonly unknown[] {
  if (encrypted !== undefined && typeof encrypted !== "boolean") {
    throw new ValueError("Cannot create a room: encrypted must be true or false");
  }
  const customState: unknown = custom?.initial_state;
  const state = initialState?.length || !Array.isArray(customState) ? initialState ?? [] : customState;
  return !encrypted || state.some(isRoomEncryption) ? state : [...state, ENCRYPTION];
}

/** Whether an event encrypts the room: under another key than the empty one, it does nothing. */
export function isRoomEncryption(event: unknown): event is JsonObject {
  return isJsonObject(event) && event.type === "m.room.encryption" && (event.state_key ?? "") === "";
}

const ENCRYPTION = { type: "m.room.encryption", content: { algorithm: EncryptionAlgorithm.MEGOLM_V1 } };

/** The members that have a value; without one are undefined and the empty text, list and object. */
function present(members: Readonly<Record<string, object | string | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && Object.keys(value).length > 0),
  );
}

/**
 * What others wrote is looked at; what the server says of the rooms, and whether it says it, is
 * not.
 */
const members: object = { children_state: optional(list(childEvent)) };
const room = object<SpaceHierarchyRoom>(members as Members<SpaceHierarchyRoom>);
const hierarchy = endpoint(
  "getSpaceHierarchy",
  "GET",
  "/_matrix/client/v1/rooms/{roomId}/hierarchy",
  shaped(object<SpaceHierarchyResponse>({ rooms: list(room), next_batch: optional(text) })),
);

/** Options of {@link SpacesAPI.getSpaceHierarchy}. */
export interface GetSpaceHierarchyOptions extends RequestOptions {
  /** Whether to have only rooms that the space suggests. Default: false. */
  suggestedOnly?: boolean;
  /** At most how many rooms in a page, at least 1. Default: as the server likes. */
  limit?: number;
  /** How many spaces deep; must be the same for all pages. Default: as deep as the server goes. */
  maxDepth?: number;
  /** Where to begin: `next_batch` of another page. Default: the space. */
  from?: string;
}

/** Operations on spaces. */
export interface SpacesAPI {
  /**
   * Reads a page of a space's rooms, those of its spaces included.
   *
   * @param roomId The space.
   * @param options Which rooms, where to begin, and request options.
   * @returns The rooms, each space before the rooms in it, and the token of the next page if there
   *   is one.
   * @throws {ForbiddenError} If the caller may not see the space.
   * @throws {ValueError} If `limit` or `maxDepth` is too small or no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1roomsroomidhierarchy | GET /rooms/{roomId}/hierarchy}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function roomsOf(client: Client, spaceId: RoomID): Promise<RoomID[]> {
   *   const { rooms } = await client.getSpaceHierarchy(spaceId, { maxDepth: 1 });
   *   return rooms.map(({ room_id }) => room_id);
   * }
   * ```
   */
  getSpaceHierarchy(roomId: RoomID, options?: GetSpaceHierarchyOptions): Promise<SpaceHierarchyResponse>;
}

/** Makes the operations on spaces. */
export function spacesAPI({ http }: Session): SpacesAPI {
  return {
    async getSpaceHierarchy(roomId, { suggestedOnly, limit, maxDepth, from, ...options } = {}) {
      checkInteger("limit", limit, 1);
      checkInteger("maxDepth", maxDepth);
      const query = { suggested_only: suggestedOnly || undefined, limit, max_depth: maxDepth, from };
      return await http[CALL](hierarchy, { path: { roomId }, query }, options);
    },
  };
}
