/**
 * Joining by ID, leaving, inviting and removing: who is what to a room.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#room-membership | Room membership}
 * @module
 */

import {
  CALL,
  calledAs,
  type Endpoint,
  endpoint,
  field,
  type FillMemberEventAPI,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import { Membership } from "../../types/enums.ts";
import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { RoomMemberContent } from "../../types/content/room_state_content.ts";
import type { ThirdPartySigned } from "../../types/events/room_records.ts";
import type { RoomStateAPI } from "./state_events.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

// All of these may be repeated: they say what a user is to be to the room, and asking for what
// already is changes nothing. A repeated kick or unban is refused if the first one was done and
// only its answer was lost; nothing is done twice.
const repeatable = { idempotent: true };
const roomIdOf = field<RoomID>("room_id", "string");

const joinById = endpoint(
  "joinRoomById",
  "POST",
  "/_matrix/client/v3/rooms/{roomId}/join",
  roomIdOf,
  { ...repeatable, limit: "joinRoom" },
);
const leave = endpoint("leaveRoom", "POST", "/_matrix/client/v3/rooms/{roomId}/leave", nothing, repeatable);
const forget = endpoint(
  "forgetRoom",
  "POST",
  "/_matrix/client/v3/rooms/{roomId}/forget",
  nothing,
  repeatable,
);
const invite = endpoint(
  "inviteUser",
  "POST",
  "/_matrix/client/v3/rooms/{roomId}/invite",
  nothing,
  repeatable,
);
const kick = endpoint("kickUser", "POST", "/_matrix/client/v3/rooms/{roomId}/kick", nothing, repeatable);
const ban = endpoint("banUser", "POST", "/_matrix/client/v3/rooms/{roomId}/ban", nothing, repeatable);
const unban = endpoint("unbanUser", "POST", "/_matrix/client/v3/rooms/{roomId}/unban", nothing, repeatable);

/** Options of the operations that change a membership. */
export interface MembershipOptions extends RequestOptions {
  /** Why, for the member event. Default: empty. */
  reason?: string;
  /**
   * More members of the member event's content. If there are any, the event is sent as it is, and
   * not by the endpoint made for the purpose; `fillMemberEvent()` then completes it. Default: none.
   */
  extraContent?: Readonly<JsonObject>;
}

/** How to join a room whose ID is known. */
export interface JoinRoomByIdOptions extends MembershipOptions {
  /**
   * The proof that goes with an invitation by email address or phone number. Lost if there is
   * `extraContent`.
   */
  thirdPartySigned?: ThirdPartySigned;
}

/** How to change someone's membership. */
export interface SendMemberEventOptions extends RequestOptions {
  /** More members of the content. Default: none. */
  extraContent?: Readonly<JsonObject>;
}

/**
 * Operations on membership.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, for lack of power for example
 * (`ForbiddenError`), and `ValueError` before anything is sent if an identifier can't be one.
 */
export interface MembershipAPI {
  /**
   * Joins a room by its ID, or takes an invitation to it.
   *
   * @param roomId The room, known to the homeserver: it is in it, or the user is invited.
   * @param options Reason, extra content, and request options.
   * @returns The room's ID.
   * @throws {ForbiddenError} If the user is not invited and the room is not public, or the user is
   *   banned.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidjoin | POST /rooms/{roomId}/join}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function enter(client: Client, roomId: RoomID): Promise<void> {
   *   await client.joinRoomById(roomId);
   * }
   * ```
   */
  joinRoomById(roomId: RoomID, options?: JoinRoomByIdOptions): Promise<RoomID>;

  /**
   * Leaves a room, rejects an invitation to it, or takes a knock back.
   *
   * The user sees no new events from then on; what was visible before stays so until
   * `forgetRoom()`.
   *
   * @param roomId The room.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the user is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidleave | POST /rooms/{roomId}/leave}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function exit(client: Client, roomId: RoomID): Promise<void> {
   *   await client.leaveRoom(roomId, { reason: "The show is over" });
   * }
   * ```
   */
  leaveRoom(roomId: RoomID, options?: MembershipOptions): Promise<void>;

  /**
   * Forgets a room that was left: its history is out of reach from then on.
   *
   * @param roomId The room, which the user must have left.
   * @param options Request options.
   * @throws {MatrixRequestError} If the user is still in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidforget | POST /rooms/{roomId}/forget}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function exitForGood(client: Client, roomId: RoomID): Promise<void> {
   *   await client.leaveRoom(roomId);
   *   await client.forgetRoom(roomId);
   * }
   * ```
   */
  forgetRoom(roomId: RoomID, options?: RequestOptions): Promise<void>;

  /**
   * Invites a user, who takes part only after joining.
   *
   * @param roomId The room; the caller must be in it.
   * @param userId The user to invite.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller may not invite, or the user is banned or in the room.
   * @throws {InviteBlockedError} If the user takes no invitations from the caller.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidinvite | POST /rooms/{roomId}/invite}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function invite(client: Client, roomId: RoomID, users: UserID[]): Promise<void> {
   *   for (const user of users) await client.inviteUser(roomId, user, { reason: "Rehearsal" });
   * }
   * ```
   */
  inviteUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Removes a user from a room, or takes an invitation back. The user may come again, if the room's
   * join rules let them.
   *
   * @param roomId The room.
   * @param userId The user to remove.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller lacks the power, or the user is not in the room.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidkick | POST /rooms/{roomId}/kick}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function kick(client: Client, roomId: RoomID, user: UserID): Promise<void> {
   *   await client.kickUser(roomId, user, { reason: "Heckling" });
   * }
   * ```
   */
  kickUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Bans a user, who leaves the room if in it, and can neither join nor be invited until
   * `unbanUser()`.
   *
   * @param roomId The room.
   * @param userId The user to ban, in the room or not.
   * @param options Reason, extra content, and request options.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidban | POST /rooms/{roomId}/ban}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await homeserver.createUser("mallory");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.banUser(roomId, "@mallory:localhost", { reason: "Heckling" });
   * const banned = await client.getMembers(roomId, { membership: "ban" });
   * console.assert(banned[0]?.content.reason === "Heckling");
   * ```
   */
  banUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Lifts a ban: the user may be invited again, or join, if the room's join rules let them.
   *
   * @param roomId The room.
   * @param userId The banned user.
   * @param options Reason, extra content, and request options.
   * @throws {MatrixRequestError} If the caller lacks the power (`ForbiddenError`), or the user is
   *   not banned.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidunban | POST /rooms/{roomId}/unban}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function forgive(client: Client, roomId: RoomID, user: UserID): Promise<void> {
   *   await client.unbanUser(roomId, user);
   *   await client.inviteUser(roomId, user);
   * }
   * ```
   */
  unbanUser(roomId: RoomID, userId: UserID, options?: MembershipOptions): Promise<void>;

  /**
   * Sends a member event, completed by `fillMemberEvent()`: any change of membership, with any
   * content.
   *
   * @param roomId The room.
   * @param userId The user whom the event is about.
   * @param membership What the user is to be to the room.
   * @param options More members of the content, and request options.
   * @returns The ID of the new member event.
   * @throws {ForbiddenError} If the change is not allowed.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#mroommember | m.room.member}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function useStageName(client: Client, roomId: RoomID, userId: UserID): Promise<void> {
   *   await client.sendMemberEvent(roomId, userId, "join", { extraContent: { displayname: "Hamlet" } });
   * }
   * ```
   */
  sendMemberEvent(
    roomId: RoomID,
    userId: UserID,
    membership: Membership,
    options?: SendMemberEventOptions,
  ): Promise<EventID>;
}

type RoomEndpoint<Result> = Endpoint<`/_matrix/client/v3/rooms/{roomId}/${string}`, Result>;

/** A change of what a user, the acting one unless named, is to a room. */
interface Change<Result> {
  readonly endpoint: RoomEndpoint<Result>;
  readonly roomId: RoomID;
  readonly userId?: UserID;
  readonly membership: Membership;
  readonly body: object;
}

/**
 * Makes the operations on membership.
 *
 * @param session Who acts.
 * @param core What sends and completes member events that have extra content.
 */
export function membershipAPI(
  session: Session,
  core: Pick<RoomStateAPI, "sendStateEvent"> & FillMemberEventAPI,
): MembershipAPI {
  const { http } = session;

  const sendMemberEvent: MembershipAPI["sendMemberEvent"] = async (
    roomId,
    userId,
    membership,
    { extraContent, ...options } = {},
  ) => {
    checkIdentifier("userId", userId);
    const content = { ...extraContent, membership } as RoomMemberContent;
    const filled = await core.fillMemberEvent(roomId, userId, content, options) ?? content;
    return await core.sendStateEvent(roomId, "m.room.member", filled, {
      ...calledAs(options, "sendMemberEvent"),
      stateKey: userId,
    });
  };

  /**
   * Changes a membership: by an event of our own if there is extra content, else by the endpoint
   * made for it.
   */
  const change = async <Result>(
    { endpoint, roomId, userId, membership, body }: Change<Result>,
    { reason = "", extraContent = {}, ...options }: MembershipOptions,
  ): Promise<Result | undefined> => {
    if (Object.keys(extraContent).length === 0) {
      const withReason = reason === "" ? body : { ...body, reason };
      return await http[CALL](endpoint, { path: { roomId }, body: withReason }, options);
    }
    checkIdentifier("roomId", roomId);
    const content = reason === "" ? extraContent : { reason, ...extraContent };
    const target = userId ?? await session.userId(options);
    await sendMemberEvent(roomId, target, membership, {
      ...calledAs(options, endpoint.operation),
      extraContent: content,
    });
    return undefined;
  };

  /** Changes the membership of a user who is named in the body. */
  const changeOf = (
    endpoint: RoomEndpoint<void>,
    membership: Membership,
    body: object = {},
  ): MembershipAPI["inviteUser"] =>
  async (roomId, userId, options = {}) => {
    checkIdentifier("userId", userId);
    await change({ endpoint, roomId, userId, membership, body: { user_id: userId, ...body } }, options);
  };

  return {
    async joinRoomById(roomId, { thirdPartySigned, ...options } = {}) {
      const body = { third_party_signed: thirdPartySigned };
      return await change({ endpoint: joinById, roomId, membership: Membership.JOIN, body }, options) ??
        roomId;
    },
    leaveRoom: async (roomId, options = {}) =>
      await change({ endpoint: leave, roomId, membership: Membership.LEAVE, body: {} }, options),
    forgetRoom: (roomId, options) => http[CALL](forget, { path: { roomId } }, options),
    inviteUser: changeOf(invite, Membership.INVITE),
    kickUser: changeOf(kick, Membership.LEAVE, { reason: "" }),
    banUser: changeOf(ban, Membership.BAN, { reason: "" }),
    unbanUser: changeOf(unban, Membership.LEAVE, { reason: "" }),
    sendMemberEvent,
  };
}
