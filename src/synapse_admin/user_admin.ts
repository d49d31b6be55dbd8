/**
 * What administrators do to the users of a Synapse.
 *
 * @module
 */

import { CALL, type HTTPAPI, type RequestOptions } from "../api/http/mod.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { RoomID, UserID } from "../types/ids.ts";
import {
  type AdminConnection,
  type AdminUser,
  type AdminUserPage,
  ENDPOINTS,
  type UserRedaction,
} from "./endpoints.ts";
import {
  type AdministratingClient,
  type AdminUserChange,
  boolean,
  checked,
  type DeactivateUserOptions,
  filledText,
  type ListAdminUsersOptions,
  OPTIONS,
  type RedactUserEventsOptions,
  type ResetPasswordOptions,
  transportOf,
} from "./options.ts";

const CHANGES: OptionNames<AdminUserChange> = { suspended: true, locked: true, shadowBanned: true };

/** @internal What a {@linkcode SynapseAdmin} does to users. */
export abstract class UserAdmin {
  readonly #http: HTTPAPI;

  /**
   * Asks nothing yet.
   *
   * @param client The client of an administrator, or the transport of one.
   * @throws {ValueError} If it is no client.
   */
  constructor(client: AdministratingClient) {
    this.#http = transportOf(client);
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
    options: ListAdminUsersOptions = {},
  ): Promise<AdminUserPage> {
    const { from, limit, name, guests, deactivated, locked, ...request } = checked(
      "listUsers",
      options,
      OPTIONS.listUsers,
    );
    const query = { from, limit, name, guests, deactivated, locked };
    return await this.#http[CALL](ENDPOINTS.listUsers, { path: {}, query }, request);
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
    const { suspended, locked, shadowBanned } = change ?? {};
    const given = Object.entries({ suspended, locked, shadowBanned })
      .filter(([_, value]) => value !== undefined);
    if (given.length === 0) {
      throw new ValueError("Cannot updateUser: there is no change; give suspended, locked or shadowBanned");
    }
    for (const [name, value] of given) boolean(name, value, "updateUser");
    checked("updateUser", options ?? {}, {});
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
    options: DeactivateUserOptions = {},
  ): Promise<void> {
    const { erase = false, ...request } = checked("deactivateUser", options, OPTIONS.deactivateUser);
    await this.#http[CALL](ENDPOINTS.deactivateUser, { path: { userId }, body: { erase } }, request);
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
    options: ResetPasswordOptions = {},
  ): Promise<void> {
    filledText("the password", password, "resetPassword");
    const { logoutDevices = true, ...request } = checked("resetPassword", options, OPTIONS.resetPassword);
    const body = { new_password: password, logout_devices: logoutDevices };
    await this.#http[CALL](ENDPOINTS.resetPassword, { path: { userId }, body }, request);
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
   * Lists the addresses from which a user's devices have asked. They are personal data.
   *
   * @param userId The user.
   * @param options Request options.
   * @example
   * ```ts
   * import type { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function addressesOf(admin: SynapseAdmin, spammer: UserID): Promise<Set<string>> {
   *   return new Set((await admin.listUserConnections(spammer)).map(({ ip }) => ip));
   * }
   * ```
   */
  async listUserConnections(userId: UserID, options?: RequestOptions): Promise<AdminConnection[]> {
    const { devices } = await this.#http[CALL](ENDPOINTS.listUserConnections, { path: { userId } }, options);
    return Object.entries(devices).flatMap(([device_id, { sessions }]) =>
      sessions.flatMap(({ connections }) => connections.map((each) => ({ device_id, ...each })))
    );
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
    options: RedactUserEventsOptions = {},
  ): Promise<string> {
    const { rooms, reason, limit, ...request } = checked(
      "redactUserEvents",
      options,
      OPTIONS.redactUserEvents,
    );
    const body = { rooms: rooms ?? [], reason, limit }; // to Synapse, an empty list is all rooms
    return await this.#http[CALL](ENDPOINTS.redactUserEvents, { path: { userId }, body }, request);
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
}
