/**
 * What administrators of a homeserver do to its users, whatever software it is. A file of its own because it is no
 * business of other users.
 *
 * @see
 * {@link https://spec.matrix.org/v1.18/client-server-api/#server-administration | Server administration}
 * @module
 */

import { CALL, type Endpoint, endpoint, field, type RequestOptions, type Session } from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { UserID } from "../../types/ids.ts";

const FEATURE = ["v1.18", "uk.timedout.msc4323"] as const;
const LOCK = "/_matrix/client/v1/admin/lock/{userId}";
const SUSPEND = "/_matrix/client/v1/admin/suspend/{userId}";
const locked = field<boolean>("locked", "boolean");
const suspended = field<boolean>("suspended", "boolean");

type Admin = Endpoint<typeof LOCK | typeof SUSPEND, boolean>;

const getLock: Admin = endpoint("isUserLocked", "GET", LOCK, locked);
const setLock: Admin = endpoint("setUserLocked", "PUT", LOCK, locked);
const getSuspension: Admin = endpoint("isUserSuspended", "GET", SUSPEND, suspended);
const setSuspension: Admin = endpoint("setUserSuspended", "PUT", SUSPEND, suspended);

/**
 * Operations of a homeserver's administrators on its users. The capability `m.account_moderation` says which the
 * user can do. For a Synapse before v1.18 there is `@greenroom/matrix/synapse-admin`.
 */
export interface AccountModerationAPI {
  /**
   * Whether a user is locked out: the account can't be used until it is unlocked.
   *
   * @param userId The user, of this homeserver.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't say.
   * @see
   * {@link https://spec.matrix.org/v1.18/client-server-api/#get_matrixclientv1adminlockuserid | GET /admin/lock/{userId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function unlock(client: Client, userId: UserID): Promise<void> {
   *   if (await client.isUserLocked(userId)) await client.setUserLocked(userId, false);
   * }
   * ```
   */
  isUserLocked(userId: UserID, options?: RequestOptions): Promise<boolean>;

  /**
   * Locks a user out, or lets the user in again.
   *
   * @param userId The user, of this homeserver.
   * @param locked Whether the user is locked out from now on.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator, or the user is one.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't do it.
   * @see
   * {@link https://spec.matrix.org/v1.18/client-server-api/#put_matrixclientv1adminlockuserid | PUT /admin/lock/{userId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function lockOut(client: Client, spammer: UserID): Promise<void> {
   *   await client.setUserLocked(spammer, true);
   * }
   * ```
   */
  setUserLocked(userId: UserID, locked: boolean, options?: RequestOptions): Promise<void>;

  /**
   * Whether a user is suspended: can read and leave, and nothing else.
   *
   * @param userId The user, of this homeserver.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't say.
   * @see
   * {@link https://spec.matrix.org/v1.18/client-server-api/#get_matrixclientv1adminsuspenduserid | GET /admin/suspend/{userId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function canWrite(client: Client, userId: UserID): Promise<boolean> {
   *   return !await client.isUserSuspended(userId);
   * }
   * ```
   */
  isUserSuspended(userId: UserID, options?: RequestOptions): Promise<boolean>;

  /**
   * Suspends a user, or ends that.
   *
   * @param userId The user, of this homeserver.
   * @param suspended Whether the user is suspended from now on.
   * @param options Request options.
   * @throws {ForbiddenError} If the caller is no administrator, or the user is one.
   * @throws {NotFoundError} If there is no such user.
   * @throws {UnsupportedFeatureError} If the homeserver can't do it.
   * @see
   * {@link https://spec.matrix.org/v1.18/client-server-api/#put_matrixclientv1adminsuspenduserid | PUT /admin/suspend/{userId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function silence(client: Client, spammer: UserID): Promise<void> {
   *   await client.setUserSuspended(spammer, true);
   * }
   * ```
   */
  setUserSuspended(userId: UserID, suspended: boolean, options?: RequestOptions): Promise<void>;
}

/** Makes the operations of administrators. */
export function accountModerationAPI(session: Session): AccountModerationAPI {
  const { http } = session;
  const get = async (which: Admin, userId: UserID, options?: RequestOptions) => {
    await session.needs(FEATURE, which.operation, options);
    return await http[CALL](which, { path: { userId } }, options);
  };
  const set = async (
    which: Admin,
    [userId, name, value]: readonly [userId: UserID, name: string, value: boolean],
    options?: RequestOptions,
  ) => {
    if (typeof value !== "boolean") {
      throw new ValueError(`Cannot ${which.operation}: ${name} must be true or false`);
    }
    await session.needs(FEATURE, which.operation, options);
    await http[CALL](which, { path: { userId }, body: { [name]: value } }, options);
  };
  return {
    isUserLocked: (userId, options) => get(getLock, userId, options),
    setUserLocked: (userId, locked, options) => set(setLock, [userId, "locked", locked], options),
    isUserSuspended: (userId, options) => get(getSuspension, userId, options),
    setUserSuspended: (userId, suspended, options) =>
      set(setSuspension, [userId, "suspended", suspended], options),
  };
}
