/**
 * What administrators of a homeserver do to its users, whatever software it is. A file of its own because it is no
 * business of other users.
 *
 * @see
 * {@link https://spec.matrix.org/v1.18/client-server-api/#server-administration | Server administration}
 * @module
 */

import {
  CALL,
  type Endpoint,
  endpoint,
  field,
  type Method,
  type RequestOptions,
  requestOptions,
  type Session,
} from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { UserID } from "../../types/ids.ts";

const FEATURE = ["v1.18", "uk.timedout.msc4323"] as const;
const ADMIN = "/_matrix/client/v1/admin";
const UNSTABLE_ADMIN = "/_matrix/client/unstable/uk.timedout.msc4323/admin";

type Admin = Endpoint<`${typeof ADMIN | typeof UNSTABLE_ADMIN}/${"lock" | "suspend"}/{userId}`, boolean>;

/** An endpoint, and what it was before it was in the specification. */
interface Admins {
  readonly stable: Admin;
  readonly unstable: Admin;
}

function admins(
  operation: string,
  method: Method,
  [what, member]: readonly ["lock" | "suspend", string],
): Admins {
  const parse = field<boolean>(member, "boolean");
  return {
    stable: endpoint(operation, method, `${ADMIN}/${what}/{userId}`, parse),
    unstable: endpoint(operation, method, `${UNSTABLE_ADMIN}/${what}/{userId}`, parse),
  };
}

const LOCK = ["lock", "locked"] as const;
const SUSPENSION = ["suspend", "suspended"] as const;
const getLock = admins("isUserLocked", "GET", LOCK);
const setLock = admins("setUserLocked", "PUT", LOCK);
const getSuspension = admins("isUserSuspended", "GET", SUSPENSION);
const setSuspension = admins("setUserSuspended", "PUT", SUSPENSION);

/**
 * Operations of a homeserver's administrators on its users. The capability `m.account_moderation` says which the
 * user can do. For a Synapse before v1.18 there is `@greenroom/matrix/synapse-admin`.
 */
export interface AccountModerationAPI {
  /**
   * Returns whether a user is locked out: the account can't be used until it is unlocked.
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
   * Returns whether a user is suspended: can read and leave, and nothing else.
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
  const known = async ({ stable, unstable }: Admins, options: RequestOptions = {}): Promise<Admin> => {
    await session.needs(FEATURE, stable.operation, options);
    return await session.supports(FEATURE[0], undefined, requestOptions(options)) ? stable : unstable;
  };
  const get = async (which: Admins, userId: UserID, options?: RequestOptions) =>
    await http[CALL](await known(which, options), { path: { userId } }, options);
  const set = async (
    which: Admins,
    [userId, name, value]: readonly [userId: UserID, name: string, value: boolean],
    options?: RequestOptions,
  ) => {
    if (typeof value !== "boolean") {
      throw new ValueError(`Cannot ${which.stable.operation}: ${name} must be true or false`);
    }
    await http[CALL](await known(which, options), { path: { userId }, body: { [name]: value } }, options);
  };
  return {
    isUserLocked: (userId, options) => get(getLock, userId, options),
    setUserLocked: (userId, locked, options) => set(setLock, [userId, "locked", locked], options),
    isUserSuspended: (userId, options) => get(getSuspension, userId, options),
    setUserSuspended: (userId, suspended, options) =>
      set(setSuspension, [userId, "suspended", suspended], options),
  };
}
