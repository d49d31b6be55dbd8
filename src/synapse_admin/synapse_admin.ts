/**
 * What moderators do to a Synapse whose administrators they are.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import { CALL, type HTTPAPI, type RequestOptions } from "../api/http/mod.ts";
import type { RoomMessageContent } from "../types/content/message_content.ts";
import { checkIdentifier, parseContentUri } from "../types/identifiers.ts";
import type { ContentURI, EventID, RoomID, UserID } from "../types/ids.ts";
import { isJsonObject } from "../types/json.ts";
import {
  type AdminRoom,
  type AdminRoomPage,
  ENDPOINTS,
  type RegistrationToken,
  type RoomDeletion,
} from "./endpoints.ts";
import {
  type AdministratingClient,
  checked,
  type CreateRegistrationTokenOptions,
  type DeleteRoomOptions,
  type ListAdminRoomsOptions,
  type ListRegistrationTokensOptions,
  OPTIONS,
  type SendServerNoticeOptions,
  transportOf,
  wrong,
} from "./options.ts";
import { UserAdmin } from "./user_admin.ts";

/**
 * Does to a Synapse what moderators need beside rooms: to its users, rooms, media and registrations. The
 * client's user must be an administrator of that Synapse; others get a {@linkcode ForbiddenError}. Proxies
 * often let nobody reach `/_synapse/admin` from outside.
 *
 * @example
 * ```ts
 * import type { Client } from "@greenroom/matrix";
 * import { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
 * import type { UserID } from "@greenroom/matrix/types";
 *
 * export async function removeSpammer(client: Client, userId: UserID): Promise<void> {
 *   const admin = new SynapseAdmin(client);
 *   await admin.redactUserEvents(userId, { reason: "Spam" });
 *   await admin.quarantineUserMedia(userId);
 *   await admin.deactivateUser(userId);
 * }
 * ```
 */
export class SynapseAdmin extends UserAdmin {
  readonly #http: HTTPAPI;

  /**
   * Asks nothing yet.
   *
   * @param client The client of an administrator, or the transport of one.
   * @throws {ValueError} If it is no client.
   */
  constructor(client: AdministratingClient) {
    super(client);
    this.#http = transportOf(client);
  }

  /**
   * Lists the rooms that the homeserver knows, a part at a time.
   *
   * @param options Which rooms, in what order, where the part begins, and request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function largest(admin: SynapseAdmin): Promise<RoomID[]> {
   *   const { rooms } = await admin.listRooms({ orderBy: "joined_members", limit: 10 });
   *   return rooms.map(({ room_id }) => room_id);
   * }
   * ```
   */
  async listRooms(
    options: ListAdminRoomsOptions = {},
  ): Promise<AdminRoomPage> {
    const { from, limit, orderBy, searchTerm, ...request } = checked("listRooms", options, OPTIONS.listRooms);
    const query = { from, limit, order_by: orderBy, search_term: searchTerm };
    return await this.#http[CALL](ENDPOINTS.listRooms, { path: {}, query }, request);
  }

  /**
   * Reads what the homeserver knows of a room.
   *
   * @param roomId The room.
   * @param options Request options.
   * @throws {NotFoundError} If the homeserver does not know it.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function isEmpty(admin: SynapseAdmin, roomId: RoomID): Promise<boolean> {
   *   return (await admin.getRoom(roomId)).joined_local_members === 0;
   * }
   * ```
   */
  async getRoom(roomId: RoomID, options?: RequestOptions): Promise<AdminRoom> {
    return await this.#http[CALL](ENDPOINTS.getRoom, { path: { roomId } }, options);
  }

  /**
   * Has all users of the homeserver removed from a room and the room deleted, in the background.
   * Users of other homeservers stay in it.
   *
   * @param roomId The room.
   * @param options Whether users can come back, what they are shown, and request options.
   * @returns The ID of the work, for {@linkcode SynapseAdmin.getRoomDeletion}.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function closeForGood(admin: SynapseAdmin, roomId: RoomID): Promise<string> {
   *   return await admin.deleteRoom(roomId, { block: true });
   * }
   * ```
   */
  async deleteRoom(
    roomId: RoomID,
    options: DeleteRoomOptions = {},
  ): Promise<string> {
    const { block = false, purge = true, forcePurge = false, message, ...more } = checked(
      "deleteRoom",
      options,
      OPTIONS.deleteRoom,
    );
    const { newRoomUserId, newRoomName, ...request } = more;
    const body = {
      ...{ block, purge, force_purge: forcePurge, message },
      ...{ new_room_user_id: newRoomUserId, room_name: newRoomName },
    };
    return await this.#http[CALL](ENDPOINTS.deleteRoom, { path: { roomId }, body }, request);
  }

  /**
   * Says how far the deletion of a room is.
   *
   * @param deleteId The ID that `deleteRoom()` gave.
   * @param options Request options.
   * @throws {NotFoundError} If there is none, or it ended long ago.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   *
   * export async function isDeleted(admin: SynapseAdmin, deleteId: string): Promise<boolean> {
   *   return (await admin.getRoomDeletion(deleteId)).status === "complete";
   * }
   * ```
   */
  async getRoomDeletion(deleteId: string, options?: RequestOptions): Promise<RoomDeletion> {
    return await this.#http[CALL](ENDPOINTS.getRoomDeletion, { path: { deleteId } }, options);
  }

  /**
   * Keeps users of the homeserver from joining a room, also one that it does not know. Who is in it stays.
   *
   * @param roomId The room.
   * @param options Request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function keepOut(admin: SynapseAdmin, roomId: RoomID): Promise<void> {
   *   await admin.blockRoom(roomId);
   * }
   * ```
   */
  async blockRoom(roomId: RoomID, options?: RequestOptions): Promise<void> {
    await this.#http[CALL](ENDPOINTS.blockRoom, { path: { roomId }, body: { block: true } }, options);
  }

  /**
   * Lets users of the homeserver join a room again.
   *
   * @param roomId The room.
   * @param options Request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function letIn(admin: SynapseAdmin, roomId: RoomID): Promise<void> {
   *   await admin.unblockRoom(roomId);
   * }
   * ```
   */
  async unblockRoom(roomId: RoomID, options?: RequestOptions): Promise<void> {
    await this.#http[CALL](ENDPOINTS.unblockRoom, { path: { roomId }, body: { block: false } }, options);
  }

  /**
   * Has nobody get a file any more. The file stays on the disk.
   *
   * @param url The file, also one of another homeserver.
   * @param options Request options.
   * @throws {ValueError} If it is no `mxc:` address.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { ContentURI } from "@greenroom/matrix/types";
   *
   * export async function hide(admin: SynapseAdmin, url: ContentURI): Promise<void> {
   *   await admin.quarantineMedia(url);
   * }
   * ```
   */
  async quarantineMedia(url: ContentURI, options?: RequestOptions): Promise<void> {
    const { serverName, mediaId } = parseContentUri(url);
    await this.#http[CALL](ENDPOINTS.quarantineMedia, { path: { serverName, mediaId } }, options);
  }

  /**
   * Has nobody get the files any more that a user has uploaded.
   *
   * @param userId The user, of this homeserver.
   * @param options Request options.
   * @returns How many files that are.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function hideAll(admin: SynapseAdmin, userId: UserID): Promise<number> {
   *   return await admin.quarantineUserMedia(userId);
   * }
   * ```
   */
  async quarantineUserMedia(userId: UserID, options?: RequestOptions): Promise<number> {
    return await this.#http[CALL](ENDPOINTS.quarantineUserMedia, { path: { userId } }, options);
  }

  /**
   * Lists the tokens with which users can register. They are secret.
   *
   * @param options Whether only those that are valid, or only others, and request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   *
   * export async function countValid(admin: SynapseAdmin): Promise<number> {
   *   return (await admin.listRegistrationTokens({ valid: true })).length;
   * }
   * ```
   */
  async listRegistrationTokens(
    options: ListRegistrationTokensOptions = {},
  ): Promise<RegistrationToken[]> {
    const { valid, ...request } = checked(
      "listRegistrationTokens",
      options,
      OPTIONS.listRegistrationTokens,
    );
    const call = { path: {}, query: { valid } };
    return (await this.#http[CALL](ENDPOINTS.listRegistrationTokens, call, request)).registration_tokens;
  }

  /**
   * Makes a token with which users can register.
   *
   * @param options The token, how often and how long it can be used, and request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   *
   * export async function inviteOnce(admin: SynapseAdmin): Promise<string> {
   *   const { token } = await admin.createRegistrationToken({ usesAllowed: 1 });
   *   return token;
   * }
   * ```
   */
  async createRegistrationToken(
    options: CreateRegistrationTokenOptions = {},
  ): Promise<RegistrationToken> {
    const { token, length, usesAllowed, expiresAt, ...request } = checked(
      "createRegistrationToken",
      options,
      OPTIONS.createRegistrationToken,
    );
    const body = { token, length, uses_allowed: usesAllowed, expiry_time: expiresAt };
    return await this.#http[CALL](ENDPOINTS.createRegistrationToken, { path: {}, body }, request);
  }

  /**
   * Deletes a token, so that nobody can register with it any more.
   *
   * @param token The token.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such token.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   *
   * export async function withdraw(admin: SynapseAdmin, token: string): Promise<void> {
   *   await admin.deleteRegistrationToken(token);
   * }
   * ```
   */
  async deleteRegistrationToken(token: string, options?: RequestOptions): Promise<void> {
    await this.#http[CALL](ENDPOINTS.deleteRegistrationToken, { path: { token } }, options);
  }

  /**
   * Sends a user a message as the homeserver itself, in a room of its own.
   * Synapse does so with `server_notices` in its configuration.
   *
   * @param userId The user, of this homeserver.
   * @param content The message, or its text.
   * @param options The transaction ID, and request options.
   * @returns The event.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { EventID, UserID } from "@greenroom/matrix/types";
   *
   * export async function warn(admin: SynapseAdmin, userId: UserID): Promise<EventID> {
   *   return await admin.sendServerNotice(userId, "Your account was reported for spam.");
   * }
   * ```
   */
  async sendServerNotice(
    userId: UserID,
    content: RoomMessageContent | string,
    options: SendServerNoticeOptions = {},
  ): Promise<EventID> {
    checkIdentifier("userId", userId);
    if (typeof content !== "string" && !isJsonObject(content)) {
      throw wrong("sendServerNotice", "the content must be a text or a message", content);
    }
    const { txnId = this.#http.nextTransactionId(), ...request } = checked(
      "sendServerNotice",
      options,
      OPTIONS.sendServerNotice,
    );
    const message = typeof content === "string" ? { msgtype: "m.text", body: content } : content;
    const call = { path: { txnId }, body: { user_id: userId, content: message } };
    return (await this.#http[CALL](ENDPOINTS.sendServerNotice, call, request)).event_id;
  }
}

// The rest is generated by `deno task members`: documentation tools do not follow `extends`.

import type { AdminConnection, AdminUser, AdminUserPage, UserRedaction } from "./endpoints.ts";
import type {
  AdminUserChange,
  DeactivateUserOptions,
  ListAdminUsersOptions,
  RedactUserEventsOptions,
  ResetPasswordOptions,
} from "./options.ts";

/** What it does to users. */
export interface SynapseAdmin {
  /**
   * Lists the users of the homeserver, a part at a time.
   *
   * @param options Which users, where the part begins, and request options.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function spammers(admin: SynapseAdmin): Promise<UserID[]> {
   *   const { users } = await admin.listUsers({ name: "spam", limit: 500 });
   *   return users.map(({ name }) => name);
   * }
   * ```
   */
  listUsers(
    options?: ListAdminUsersOptions,
  ): Promise<AdminUserPage>;

  /**
   * Reads what the homeserver knows of one of its users.
   *
   * @param userId The user.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such user.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isGone(admin: SynapseAdmin, userId: UserID): Promise<boolean> {
   *   return (await admin.getUser(userId)).deactivated;
   * }
   * ```
   */
  getUser(userId: UserID, options?: RequestOptions): Promise<AdminUser>;

  /**
   * Suspends, locks or shadow-bans a user, or ends that: one request for each that is given, in this order.
   *
   * A suspended user can read and leave, and nothing else. One who is locked can't use the
   * account at all, until it is unlocked. What a shadow-banned user sends nobody gets, while
   * it seems sent: for spammers alone.
   *
   * @param userId The user, of this homeserver.
   * @param change What is to be so from now on; what is left out stays.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such user.
   * @throws {ValueError} If nothing is to be changed.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function holdBack(admin: SynapseAdmin, userId: UserID): Promise<void> {
   *   await admin.updateUser(userId, { suspended: true });
   * }
   * ```
   */
  updateUser(userId: UserID, change: AdminUserChange, options?: RequestOptions): Promise<void>;

  /**
   * Ends an account: the user leaves all rooms and can't log in any more.
   *
   * @param userId The user.
   * @param options Whether to erase the user's data, too, and request options.
   * @throws {NotFoundError} If there is no such user.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function removeSpammer(admin: SynapseAdmin, userId: UserID): Promise<void> {
   *   await admin.deactivateUser(userId, { erase: true });
   * }
   * ```
   */
  deactivateUser(
    userId: UserID,
    options?: DeactivateUserOptions,
  ): Promise<void>;

  /**
   * Sets a user's password.
   *
   * @param userId The user.
   * @param password The new password.
   * @param options Whether the user's devices are logged out, and request options.
   * @throws {NotFoundError} If there is no such user.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function rescue(admin: SynapseAdmin, userId: UserID): Promise<string> {
   *   const password = crypto.randomUUID();
   *   await admin.resetPassword(userId, password);
   *   return password;
   * }
   * ```
   */
  resetPassword(
    userId: UserID,
    password: string,
    options?: ResetPasswordOptions,
  ): Promise<void>;

  /**
   * Lists the rooms that a user is in.
   *
   * @param userId The user.
   * @param options Request options.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function roomsOf(admin: SynapseAdmin, userId: UserID): Promise<RoomID[]> {
   *   return await admin.listUserRooms(userId);
   * }
   * ```
   */
  listUserRooms(userId: UserID, options?: RequestOptions): Promise<RoomID[]>;

  /**
   * Lists the addresses from which a user's devices have asked. They are personal data.
   *
   * @param userId The user.
   * @param options Request options.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function addressesOf(admin: SynapseAdmin, spammer: UserID): Promise<Set<string>> {
   *   return new Set((await admin.listUserConnections(spammer)).map(({ ip }) => ip));
   * }
   * ```
   */
  listUserConnections(userId: UserID, options?: RequestOptions): Promise<AdminConnection[]>;

  /**
   * Has the homeserver redact the events that a user has sent, in the background.
   *
   * @param userId The user.
   * @param options In which rooms, why, how many in each, and request options.
   * @returns The ID of the work, for {@linkcode SynapseAdmin.getUserRedaction}.
   * @throws {ValueError} If `rooms` is given and empty: Synapse would take all rooms.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function cleanUp(admin: SynapseAdmin, userId: UserID): Promise<string> {
   *   return await admin.redactUserEvents(userId, { reason: "Spam" });
   * }
   * ```
   */
  redactUserEvents(
    userId: UserID,
    options?: RedactUserEventsOptions,
  ): Promise<string>;

  /**
   * Says how far a redaction of a user's events is.
   *
   * @param redactId The ID that `redactUserEvents()` gave.
   * @param options Request options.
   * @throws {NotFoundError} If there is none, or it ended long ago.
   * @example
   * ```ts ignore
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   *
   * export async function isClean(admin: SynapseAdmin, redactId: string): Promise<boolean> {
   *   return (await admin.getUserRedaction(redactId)).status === "complete";
   * }
   * ```
   */
  getUserRedaction(redactId: string, options?: RequestOptions): Promise<UserRedaction>;
}
