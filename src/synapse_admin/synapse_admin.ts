/**
 * What moderators do to a Synapse whose administrators they are.
 *
 * Over 300 lines because most of it is the documentation of what applications see.
 *
 * @module
 */

import { CALL, checkInteger, type HTTPAPI, type RequestOptions } from "../api/http/mod.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { RoomMessageContent } from "../types/content/message_content.ts";
import type { Open } from "../types/enums.ts";
import { checkIdentifier, parseContentUri } from "../types/identifiers.ts";
import type { ContentURI, EventID, RoomID, TransactionID, UserID } from "../types/ids.ts";
import {
  type AdminRoom,
  type AdminRoomPage,
  type AdminUser,
  type AdminUserPage,
  ENDPOINTS,
  type RegistrationToken,
  type RoomDeletion,
  type UserRedaction,
} from "./endpoints.ts";

/** Options of {@link SynapseAdmin.listUsers}. */
export interface ListAdminUsersOptions extends RequestOptions {
  /** Where the part begins: `next_token` of the one before. Default: at the beginning. */
  from?: string;
  /** How many users at most. Default: Synapse's, 100. */
  limit?: number;
  /** Only users with this in their ID or display name. Default: all. */
  name?: string;
  /** Whether guests are in the list. Default: true. */
  guests?: boolean;
  /** Whether users whose accounts have ended are in the list. Default: false. */
  deactivated?: boolean;
  /** Whether users who are locked out are in the list. Default: false. */
  locked?: boolean;
}

/** What {@link SynapseAdmin.updateUser} changes. */
export interface AdminUserChange {
  /** Whether the user may only read. Default: it stays. */
  suspended?: boolean;
  /** Whether the user is locked out. Default: it stays. */
  locked?: boolean;
  /** Whether nobody else gets what the user sends. Default: it stays. */
  shadowBanned?: boolean;
}

const CHANGES: OptionNames<AdminUserChange> = { suspended: true, locked: true, shadowBanned: true };

/** Options of {@link SynapseAdmin.deactivateUser}. */
export interface DeactivateUserOptions extends RequestOptions {
  /** Whether to erase the user's data and to hide messages from who comes later. Default: false. */
  erase?: boolean;
}

/** Options of {@link SynapseAdmin.resetPassword}. */
export interface ResetPasswordOptions extends RequestOptions {
  /** Whether all devices of the user are logged out. Default: true. */
  logoutDevices?: boolean;
}

/** Options of {@link SynapseAdmin.redactUserEvents}. */
export interface RedactUserEventsOptions extends RequestOptions {
  /** In which rooms. Default: in those that the user is in, or is banned from. */
  rooms?: readonly RoomID[];
  /** Why. Default: nothing is said. */
  reason?: string;
  /** How many events in each room at most, the latest first. Default: Synapse's, 1,000. */
  limit?: number;
}

/** Options of {@link SynapseAdmin.listRooms}. */
export interface ListAdminRoomsOptions extends RequestOptions {
  /** Where the part begins: `next_batch` of the one before. Default: 0. */
  from?: number;
  /** How many rooms at most. Default: Synapse's, 100. */
  limit?: number;
  /** What the rooms are ordered by. Default: the name. */
  orderBy?: Open<
    "name" | "canonical_alias" | "joined_members" | "joined_local_members" | "version" | "creator"
  >;
  /** Only rooms with this in their name or address. Default: all. */
  searchTerm?: string;
}

/** Options of {@link SynapseAdmin.deleteRoom}. */
export interface DeleteRoomOptions extends RequestOptions {
  /** Whether users can't join it again. Default: false. */
  block?: boolean;
  /** Whether its history is deleted. Default: true. */
  purge?: boolean;
  /** Whether it is deleted although users could not be removed. Default: false. */
  forcePurge?: boolean;
  /** What is said in the room that the users come to. Default: Synapse's. */
  message?: string;
  /** Who makes a room that the users are joined to, where `message` is said. Default: there is none. */
  newRoomUserId?: UserID;
  /** The name of that room. Default: Synapse's. */
  newRoomName?: string;
}

/** Options of {@link SynapseAdmin.listRegistrationTokens}. */
export interface ListRegistrationTokensOptions extends RequestOptions {
  /** Whether only tokens are listed that can be used, or only others. Default: all. */
  valid?: boolean;
}

/** Options of {@link SynapseAdmin.createRegistrationToken}. */
export interface CreateRegistrationTokenOptions extends RequestOptions {
  /** The token. Default: Synapse makes one up. */
  token?: string;
  /** How long the token is that Synapse makes up. Default: Synapse's, 16. */
  length?: number;
  /** How often it can be used. Default: without a limit. */
  usesAllowed?: number;
  /** When it expires, in milliseconds since the epoch. Default: never. */
  expiresAt?: number;
}

/** Options of {@link SynapseAdmin.sendServerNotice}. */
export interface SendServerNoticeOptions extends RequestOptions {
  /** The transaction ID: Synapse takes two with the same one for one. Default: a new one. */
  txnId?: TransactionID;
}

/** What {@link SynapseAdmin} asks with: a client, whose user is an administrator. */
export interface AdministratingClient {
  /** The transport. */
  readonly api: HTTPAPI;
}

/**
 * Does to a Synapse what moderators need beside rooms: to its users, rooms, media and registrations. The client's
 * user must be an administrator of that Synapse; others get a {@linkcode ForbiddenError}. Proxies often let nobody
 * reach `/_synapse/admin` from outside.
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
export class SynapseAdmin {
  readonly #http: HTTPAPI;

  /**
   * Asks nothing yet.
   *
   * @param client The client of an administrator, or the transport of one.
   */
  constructor(client: AdministratingClient) {
    this.#http = client.api;
  }

  /**
   * Lists the users of the homeserver, a part at a time.
   *
   * @param options Which users, where the part begins, and request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function spammers(admin: SynapseAdmin): Promise<UserID[]> {
   *   const { users } = await admin.listUsers({ name: "spam", limit: 500 });
   *   return users.map(({ name }) => name);
   * }
   * ```
   */
  async listUsers(
    { from, limit, name, guests, deactivated, locked, ...options }: ListAdminUsersOptions = {},
  ): Promise<AdminUserPage> {
    checkInteger("limit", limit, 1);
    const query = { from, limit, name, guests, deactivated, locked };
    return await this.#http[CALL](ENDPOINTS.listUsers, { path: {}, query }, options);
  }

  /**
   * Reads what the homeserver knows of one of its users.
   *
   * @param userId The user.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such user.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isGone(admin: SynapseAdmin, userId: UserID): Promise<boolean> {
   *   return (await admin.getUser(userId)).deactivated;
   * }
   * ```
   */
  async getUser(userId: UserID, options?: RequestOptions): Promise<AdminUser> {
    return await this.#http[CALL](ENDPOINTS.getUser, { path: { userId } }, options);
  }

  /**
   * Suspends, locks or shadow-bans a user, or ends that: one request for each that is given, in this order.
   *
   * A suspended user can read and leave, and nothing else. One who is locked can't use the account at all, until it
   * is unlocked. What a shadow-banned user sends nobody gets, while it seems sent: for spammers alone.
   *
   * @param userId The user, of this homeserver.
   * @param change What is to be so from now on; what is left out stays.
   * @param options Request options.
   * @throws {NotFoundError} If there is no such user.
   * @throws {ValueError} If nothing is to be changed.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function holdBack(admin: SynapseAdmin, userId: UserID): Promise<void> {
   *   await admin.updateUser(userId, { suspended: true });
   * }
   * ```
   */
  async updateUser(userId: UserID, change: AdminUserChange, options?: RequestOptions): Promise<void> {
    checkOptions(change, CHANGES, "updateUser");
    const { suspended, locked, shadowBanned } = change;
    const isEmpty = [suspended, locked, shadowBanned].every((given) => given === undefined);
    if (isEmpty) {
      throw new ValueError("Cannot updateUser: there is no change; give suspended, locked or shadowBanned");
    }
    const path = { userId };
    if (suspended !== undefined) {
      await this.#http[CALL](ENDPOINTS.suspendUser, { path, body: { suspend: suspended } }, options);
    }
    if (locked !== undefined) {
      // Synapse would make a user of an ID that there is not.
      await this.#http[CALL](ENDPOINTS.getUser, { path }, options);
      await this.#http[CALL](ENDPOINTS.lockUser, { path, body: { locked } }, options);
    }
    if (shadowBanned !== undefined) {
      const endpoint = shadowBanned ? ENDPOINTS.shadowBanUser : ENDPOINTS.unshadowBanUser;
      await this.#http[CALL](endpoint, { path }, options);
    }
  }

  /**
   * Ends an account: the user leaves all rooms and can't log in any more.
   *
   * @param userId The user.
   * @param options Whether to erase the user's data, too, and request options.
   * @throws {NotFoundError} If there is no such user.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function removeSpammer(admin: SynapseAdmin, userId: UserID): Promise<void> {
   *   await admin.deactivateUser(userId, { erase: true });
   * }
   * ```
   */
  async deactivateUser(
    userId: UserID,
    { erase = false, ...options }: DeactivateUserOptions = {},
  ): Promise<void> {
    await this.#http[CALL](ENDPOINTS.deactivateUser, { path: { userId }, body: { erase } }, options);
  }

  /**
   * Sets a user's password.
   *
   * @param userId The user.
   * @param password The new password.
   * @param options Whether the user's devices are logged out, and request options.
   * @throws {NotFoundError} If there is no such user.
   * @example
   * ```ts
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
  async resetPassword(
    userId: UserID,
    password: string,
    { logoutDevices = true, ...options }: ResetPasswordOptions = {},
  ): Promise<void> {
    const body = { new_password: password, logout_devices: logoutDevices };
    await this.#http[CALL](ENDPOINTS.resetPassword, { path: { userId }, body }, options);
  }

  /**
   * Lists the rooms that a user is in.
   *
   * @param userId The user.
   * @param options Request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { RoomID, UserID } from "@greenroom/matrix/types";
   *
   * export async function roomsOf(admin: SynapseAdmin, userId: UserID): Promise<RoomID[]> {
   *   return await admin.listUserRooms(userId);
   * }
   * ```
   */
  async listUserRooms(userId: UserID, options?: RequestOptions): Promise<RoomID[]> {
    return (await this.#http[CALL](ENDPOINTS.listUserRooms, { path: { userId } }, options)).joined_rooms;
  }

  /**
   * Has the homeserver redact the events that a user has sent, in the background.
   *
   * @param userId The user.
   * @param options In which rooms, why, how many in each, and request options.
   * @returns The ID of the work, for {@linkcode SynapseAdmin.getUserRedaction}.
   * @throws {ValueError} If `rooms` is given and empty: Synapse would take all rooms.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function cleanUp(admin: SynapseAdmin, userId: UserID): Promise<string> {
   *   return await admin.redactUserEvents(userId, { reason: "Spam" });
   * }
   * ```
   */
  async redactUserEvents(
    userId: UserID,
    { rooms, reason, limit, ...options }: RedactUserEventsOptions = {},
  ): Promise<string> {
    checkInteger("limit", limit, 1);
    if (rooms !== undefined && (!Array.isArray(rooms) || rooms.length === 0)) {
      throw new ValueError(
        "Cannot redactUserEvents: rooms must be an array of room IDs that is not empty; leave it out for all rooms",
      );
    }
    for (const roomId of rooms ?? []) checkIdentifier("roomId", roomId);
    const body = { rooms: rooms ?? [], reason, limit }; // to Synapse, an empty list is all rooms
    return await this.#http[CALL](ENDPOINTS.redactUserEvents, { path: { userId }, body }, options);
  }

  /**
   * Says how far a redaction of a user's events is.
   *
   * @param redactId The ID that `redactUserEvents()` gave.
   * @param options Request options.
   * @throws {NotFoundError} If there is none, or it ended long ago.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   *
   * export async function isClean(admin: SynapseAdmin, redactId: string): Promise<boolean> {
   *   return (await admin.getUserRedaction(redactId)).status === "complete";
   * }
   * ```
   */
  async getUserRedaction(redactId: string, options?: RequestOptions): Promise<UserRedaction> {
    return await this.#http[CALL](ENDPOINTS.getUserRedaction, { path: { redactId } }, options);
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
    { from, limit, orderBy, searchTerm, ...options }: ListAdminRoomsOptions = {},
  ): Promise<AdminRoomPage> {
    checkInteger("from", from);
    checkInteger("limit", limit, 1);
    const query = { from, limit, order_by: orderBy, search_term: searchTerm };
    return await this.#http[CALL](ENDPOINTS.listRooms, { path: {}, query }, options);
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
   * Has all users of the homeserver removed from a room and the room deleted, in the background. Users of other
   * homeservers stay in it.
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
    { block = false, purge = true, forcePurge = false, message, newRoomUserId, newRoomName, ...options }:
      DeleteRoomOptions = {},
  ): Promise<string> {
    if (newRoomUserId !== undefined) checkIdentifier("userId", newRoomUserId);
    const body = {
      ...{ block, purge, force_purge: forcePurge, message },
      ...{ new_room_user_id: newRoomUserId, room_name: newRoomName },
    };
    return await this.#http[CALL](ENDPOINTS.deleteRoom, { path: { roomId }, body }, options);
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
    { valid, ...options }: ListRegistrationTokensOptions = {},
  ): Promise<RegistrationToken[]> {
    const call = { path: {}, query: { valid } };
    return (await this.#http[CALL](ENDPOINTS.listRegistrationTokens, call, options)).registration_tokens;
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
    { token, length, usesAllowed, expiresAt, ...options }: CreateRegistrationTokenOptions = {},
  ): Promise<RegistrationToken> {
    checkInteger("length", length, 1);
    checkInteger("usesAllowed", usesAllowed);
    checkInteger("expiresAt", expiresAt);
    const body = { token, length, uses_allowed: usesAllowed, expiry_time: expiresAt };
    return await this.#http[CALL](ENDPOINTS.createRegistrationToken, { path: {}, body }, options);
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
   * Sends a user a message as the homeserver itself, in a room of its own. Synapse does so with `server_notices` in
   * its configuration.
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
    { txnId = this.#http.nextTransactionId(), ...options }: SendServerNoticeOptions = {},
  ): Promise<EventID> {
    checkIdentifier("userId", userId);
    const message = typeof content === "string" ? { msgtype: "m.text", body: content } : content;
    const call = { path: { txnId }, body: { user_id: userId, content: message } };
    return (await this.#http[CALL](ENDPOINTS.sendServerNotice, call, options)).event_id;
  }
}
