/**
 * The state of rooms, and their members, which are part of it.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#getting-events-for-a-room | Getting events for a room}
 * @module
 */

import {
  CALL,
  checkedType,
  endpoint,
  field,
  incomingContent,
  jsonObject,
  outgoingEvent,
  type RequestOptions,
  type SendableContent,
  type Session,
  shaped,
} from "../http/mod.ts";
import type { ClientStateEvent } from "../../types/events/event.ts";
import { Membership, type StateEventFormat } from "../../types/enums.ts";
import { clientStateEvent, eventList, memberEvent } from "../../types/checks/event_check.ts";
import { object } from "../../types/checks/shape.ts";
import type { ContentOf, ReceivedContent } from "../../types/events/event_of.ts";
import type { EventType } from "../../types/events/event_type.ts";
import type { EventID, RoomID, SyncToken, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { RoomMemberContent } from "../../types/content/room_state_content.ts";
import type { JoinedMember } from "../../types/events/room_records.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

const STATE_PATH = "/_matrix/client/v3/rooms/{roomId}/state/{eventType}/{stateKey}";

/** Answer of `getMembers()`. */
interface MembersResponse {
  chunk: ClientStateEvent<"m.room.member", RoomMemberContent>[];
}

const members = endpoint(
  "getMembers",
  "GET",
  "/_matrix/client/v3/rooms/{roomId}/members",
  shaped(object<MembersResponse>({ chunk: eventList(memberEvent) })),
);
const joinedMembers = endpoint(
  "getJoinedMembers",
  "GET",
  "/_matrix/client/v3/rooms/{roomId}/joined_members",
  joinedMembersOf,
);
const state = endpoint(
  "getState",
  "GET",
  "/_matrix/client/v3/rooms/{roomId}/state",
  shaped(eventList(clientStateEvent)),
);
const stateContent = endpoint("getStateEvent", "GET", STATE_PATH, jsonObject);
const stateEvent = endpoint(
  "getStateEvent",
  "GET",
  STATE_PATH,
  shaped(clientStateEvent),
);
const eventIdOf = field<EventID>("event_id", "string");
const sendState = endpoint("sendStateEvent", "PUT", STATE_PATH, eventIdOf, { limit: "send", inOrder: true });
// Servers do not count it with messages, and a ban is not to wait for them.
const sendMember = endpoint("sendStateEvent", "PUT", STATE_PATH, eventIdOf);

/** Options of {@link RoomStateAPI.getMembers}. */
export interface GetMembersOptions extends RequestOptions {
  /**
   * The point in the room's history to look at: a token of sync or of `getMessages()`. Default:
   * now.
   */
  at?: SyncToken;
  /** Which memberships to list; together with `notMembership`, either suffices. Default: all. */
  membership?: Membership;
  /** Which memberships not to list; together with `membership`, either suffices. Default: none. */
  notMembership?: Membership;
}

/** Options of {@link RoomStateAPI.getStateEvent}. */
export interface GetStateEventOptions<Format extends StateEventFormat = StateEventFormat>
  extends RequestOptions {
  /** Which piece of the state of this type. Default: empty. */
  stateKey?: string;
  /**
   * Whether to answer with the content or the whole event, which servers can do since version 1.16.
   * Default: `content`.
   */
  format?: Format;
}

/** Options of {@link RoomStateAPI.sendStateEvent}. */
export interface SendStateEventOptions extends RequestOptions {
  /** Which piece of the state of this type. Default: empty. */
  stateKey?: string;
}

/** What {@link RoomStateAPI.getStateEvent} answers with. */
export type StateEventAnswer<T extends EventType, Format extends StateEventFormat> = Format extends "event"
  ? ClientStateEvent<T extends string ? T : string, StateContentAs<T>>
  : StateContentAs<T>;

/** The content of a state: what its type says, or nothing, but for members. */
export type StateContentAs<T extends EventType> = T extends string ? ReceivedContent<T, "state">
  : ContentOf<T>;

/**
 * Operations on the state of rooms.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if an identifier can't be one.
 */
export interface RoomStateAPI {
  /**
   * Lists the members of a room, of the past too.
   *
   * @param roomId The room.
   * @param options Which members, at which point, and request options.
   * @returns The latest member event of each user.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmembers | GET /rooms/{roomId}/members}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("bob");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({ invitees: ["@bob:localhost"] });
   * const [invited] = await client.getMembers(roomId, { membership: "invite" });
   * console.assert(invited?.state_key === "@bob:localhost");
   * ```
   */
  getMembers(
    roomId: RoomID,
    options?: GetMembersOptions,
  ): Promise<ClientStateEvent<"m.room.member", RoomMemberContent>[]>;

  /**
   * Lists who is in a room. Quicker than `getMembers()`.
   *
   * @param roomId The room; the caller must be in it, an application service with one of its users.
   * @param options Request options.
   * @returns Display name and avatar of each joined user.
   * @throws {ForbiddenError} If the caller is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidjoined_members | GET /rooms/{roomId}/joined_members}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function countMembers(client: Client, roomId: RoomID): Promise<number> {
   *   return Object.keys(await client.getJoinedMembers(roomId)).length;
   * }
   * ```
   */
  getJoinedMembers(roomId: RoomID, options?: RequestOptions): Promise<Record<UserID, JoinedMember>>;

  /**
   * Lists the state of a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @returns The latest event of each type and state key, with contents as they were sent; as they
   *   were when the user left, if so.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidstate | GET /rooms/{roomId}/state}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function stateTypes(client: Client, roomId: RoomID): Promise<Set<string>> {
   *   return new Set((await client.getState(roomId)).map(({ type }) => type));
   * }
   * ```
   */
  getState(roomId: RoomID, options?: RequestOptions): Promise<ClientStateEvent[]>;

  /**
   * Gets a state event of a room, by its type and state key.
   *
   * @param roomId The room.
   * @param eventType The type.
   * @param options The state key, what to answer with, and request options.
   * @returns The content, without what may be absent and is not what its type says; the whole event
   *   if `format` asks for it. State may have been cleared: then nothing is in it. As it was when
   *   the user left, if so.
   * @throws {MalformedContentError} If the content is not what its type says. As it was sent it is
   *   answered for a definition without a schema.
   * @throws {NotFoundError} If the room has no such state.
   * @throws {ForbiddenError} If the caller is not, and was not, in the room.
   * @throws {ServiceResponseError} If the whole event was asked for and the server is too old to
   *   give it.
   * @throws {ValueError} If the type is empty or not of state, or the state key can't be part of a
   *   path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidstateeventtypestatekey | GET /rooms/{roomId}/state/{eventType}/{stateKey}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom({ name: "Backstage" });
   * const { name } = await client.getStateEvent(roomId, "m.room.name");
   * console.assert(name === "Backstage");
   * ```
   */
  getStateEvent<const T extends EventType, Format extends StateEventFormat = "content">(
    roomId: RoomID,
    eventType: T,
    options?: GetStateEventOptions<Format>,
  ): Promise<StateEventAnswer<T, Format>>;

  /**
   * Sends a state event, which replaces that of the same type and state key.
   * To set the same once more, as a handler does that runs again after a crash, changes nothing.
   *
   * A room that is sent `m.room.encryption` is encrypted from then on: what is sent to it meanwhile
   * waits for the answer, and only if the server refuses is the room as it was before.
   *
   * @param roomId The room.
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content. Empty content is how state is taken away.
   * @param options The state key and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @throws {ValueError} If the type is empty or not of state, the content is refused, or the state
   * key can't be part of a path (`.` and `..`).
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidstateeventtypestatekey | PUT /rooms/{roomId}/state/{eventType}/{stateKey}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendStateEvent(roomId, "m.room.topic", { topic: "Rehearsals" });
   * console.assert(eventId.startsWith("$"));
   * ```
   */
  sendStateEvent<const T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "state"> | Record<string, never>,
    options?: SendStateEventOptions,
  ): Promise<EventID>;
}

/** The joined members of an answer, each with the membership that all of them have. */
function joinedMembersOf(body: unknown, request: string): Record<UserID, JoinedMember> {
  const joined = field<JsonObject>("joined", "object")(body, request);
  for (const member of Object.values(joined)) {
    if (!isJsonObject(member)) {
      throw new ServiceResponseError(
        `Cannot use the answer to ${request}: "joined" has a member that is no object`,
      );
    }
    member.membership = Membership.JOIN;
  }
  return joined as Record<UserID, JoinedMember>;
}

/** Makes the operations on the state of rooms. */
export function roomStateAPI({ http }: Session): RoomStateAPI {
  return {
    getMembers: async (roomId, { at, membership, notMembership, ...options } = {}) => {
      const query = { at, membership, not_membership: notMembership };
      return (await http[CALL](members, { path: { roomId }, query }, options)).chunk;
    },
    getJoinedMembers: (roomId, options) => http[CALL](joinedMembers, { path: { roomId } }, options),
    getState: (roomId, options) => http[CALL](state, { path: { roomId } }, options),
    async getStateEvent<const T extends EventType, Format extends StateEventFormat>(
      roomId: RoomID,
      type: T,
      { stateKey = "", format, ...options }: GetStateEventOptions<Format> = {},
    ) {
      const path = { roomId, eventType: checkedType(type, "state"), stateKey };
      if (format !== "event") {
        const content = await http[CALL](stateContent, { path }, options);
        return await incomingContent(type, "state", content) as StateEventAnswer<T, Format>;
      }
      const event = await http[CALL](stateEvent, { path, query: { format } }, options);
      const content = await incomingContent(type, "state", event.content);
      return { ...event, content } as unknown as StateEventAnswer<T, Format>; // which has been looked at
    },
    async sendStateEvent(roomId, type, body, { stateKey = "", ...options } = {}) {
      checkIdentifier("roomId", roomId);
      const { eventType, content } = await outgoingEvent(type, "state", body);
      const send = eventType === "m.room.member" ? sendMember : sendState;
      return await http[CALL](send, { path: { roomId, eventType, stateKey }, body: content }, options);
    },
  };
}
