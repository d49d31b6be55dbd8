/**
 * What the server lets the user do, which servers relay calls,
 * and what administrators of a homeserver do to its users, whatever software it is.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#capabilities-negotiation | Capabilities negotiation}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#voice-over-ip | Voice over IP}
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#server-administration | Server administration}
 *
 * Over 300 lines because half of it is documentation.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { UserID } from "../../types/ids.ts";
import {
  CALL,
  type Endpoint,
  endpoint,
  field,
  fields,
  jsonObject,
  type Method,
  type RequestOptions,
  requestOptions,
  type Session,
} from "../http/mod.ts";

export {
  type SlidingAnswer,
  slidingLack,
  type SlidingRoom,
  type SlidingSpelling,
  slidingSpelling,
} from "./sliding_sync.ts";
export { freshFilter, type SyncAPI, syncAPI, type SyncOptions } from "./sync.ts";
export {
  type GetSupportOptions,
  type PolicyServerInfo,
  type ServerContactsAPI,
  serverContactsAPI,
  type ServerSupport,
  type SupportContact,
} from "./contacts.ts";
export {
  discover,
  type DiscoverOptions,
  homeserverAddress,
  homeserverOf,
  isAddress,
  isLoopback,
  isServerName,
} from "./discovery.ts";
export {
  type ThirdPartyAPI,
  thirdPartyAPI,
  type ThirdPartyFieldType,
  type ThirdPartyLocation,
  type ThirdPartyLookupOptions,
  type ThirdPartyProtocol,
  type ThirdPartyProtocolInstance,
  type ThirdPartyUser,
} from "./third_party.ts";

/** What the server lets the user do. */
export interface Capabilities {
  /** Change the password. Allowed if absent. */
  "m.change_password"?: BooleanCapability;
  /** Change the display name. Allowed if absent; superseded by `m.profile_fields`. */
  "m.set_displayname"?: BooleanCapability;
  /** Change the avatar. Allowed if absent; superseded by `m.profile_fields`. */
  "m.set_avatar_url"?: BooleanCapability;
  /** Change email addresses and phone numbers. Allowed if absent. */
  "m.3pid_changes"?: BooleanCapability;
  /** Get a token for another device to log in with. Not allowed if absent. */
  "m.get_login_token"?: BooleanCapability;
  /** Whether leaving a room forgets it, too. Not so if absent. */
  "m.forget_forced_upon_leave"?: BooleanCapability;
  /** The versions of rooms; only version 1 if absent. */
  "m.room_versions"?: RoomVersionsCapability;
  /** Change fields of the profile. */
  "m.profile_fields"?: ProfileFieldsCapability;
  /** Lock and suspend other users. */
  "m.account_moderation"?: AccountModerationCapability;
  /** Anything else. */
  [capability: string]: unknown;
}

/** Whether the user can do something. */
export interface BooleanCapability {
  /** Whether the user can. */
  enabled: boolean;
}

/** The versions of rooms that the server supports. */
export interface RoomVersionsCapability {
  /** The version of new rooms. */
  default: string;
  /** The versions, and whether each is fit for use. */
  available: { [version: string]: "stable" | "unstable" };
}

/** Which fields of the profile the user can change. */
export interface ProfileFieldsCapability {
  /** Whether the user can change any. */
  enabled: boolean;
  /** The fields that the user can change; all but `disallowed` if absent. */
  allowed?: string[];
  /** The fields that the user cannot change; means nothing if there is `allowed`. */
  disallowed?: string[];
}

/** What the user can do about other users. */
export interface AccountModerationCapability {
  /** Suspend them. Default: `false`. */
  suspend?: boolean;
  /** Lock them out. Default: `false`. */
  lock?: boolean;
}

const get = endpoint(
  "getCapabilities",
  "GET",
  "/_matrix/client/v3/capabilities",
  field<Capabilities>("capabilities", "object"),
);

/** The operation on capabilities. */
export interface CapabilitiesAPI {
  /**
   * Gets what the homeserver lets the user do, such as changing the password.
   *
   * @param options Request options.
   * @returns The capabilities; what is missing has the default that its documentation says.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3capabilities | GET /capabilities}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function defaultRoomVersion(client: Client): Promise<string | undefined> {
   *   return (await client.getCapabilities())["m.room_versions"]?.default;
   * }
   * ```
   */
  getCapabilities(options?: RequestOptions): Promise<Capabilities>;
}

/** Makes the operation on capabilities. */
export function capabilitiesAPI({ http }: Session): CapabilitiesAPI {
  return { getCapabilities: (options) => http[CALL](get, { path: {} }, options) };
}

/** How to use the server's TURN servers. */
export interface TurnServer {
  /** The user name. */
  username: string;
  /** The password. Secret. */
  password: string;
  /** Where the TURN servers are: URIs that start with `turn:` or `turns:`. */
  uris: string[];
  /** For how long user name and password are good, in seconds. */
  ttl: number;
}

const turnServer = fields<TurnServer>({
  username: "string",
  password: "string",
  uris: "array",
  ttl: "number",
});
const getTurn = endpoint(
  "getTurnServer",
  "GET",
  "/_matrix/client/v3/voip/turnServer",
  // A server without TURN answers with an empty object.
  (body, request) =>
    Object.keys(jsonObject(body, request)).length === 0 ? undefined : turnServer(body, request),
);

/** The operation on servers that relay calls. */
export interface VoipAPI {
  /**
   * Asks for servers that relay calls.
   *
   * @param options Request options.
   * @returns Where they are, and how to use them: keep it secret. Undefined if the homeserver has
   *   none.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3voipturnserver | GET /voip/turnServer}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function iceServers(client: Client): Promise<object[]> {
   *   const turn = await client.getTurnServer();
   *   if (turn === undefined) return [];
   *   return [{ urls: turn.uris, username: turn.username, credential: turn.password }];
   * }
   * ```
   */
  getTurnServer(options?: RequestOptions): Promise<TurnServer | undefined>;
}

/** Makes the operation on servers that relay calls. */
export function voipAPI({ http }: Session): VoipAPI {
  return { getTurnServer: (options) => http[CALL](getTurn, { path: {} }, options) };
}

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
 * Operations of a homeserver's administrators on its users. The capability `m.account_moderation` says which
 * the user can do. For a Synapse before v1.18 there is `@greenroom/matrix/synapse-admin`.
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
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1adminlockuserid | GET /admin/lock/{userId}}
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
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv1adminlockuserid | PUT /admin/lock/{userId}}
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
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv1adminsuspenduserid | GET /admin/suspend/{userId}}
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
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv1adminsuspenduserid | PUT /admin/suspend/{userId}}
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
