/**
 * What users publish about themselves: names, avatars and other fields of their profiles, and their
 * presence.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#profiles | Profiles}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#presence | Presence}
 * @module
 */

import {
  CALL,
  calledAs,
  endpoint,
  fields,
  fillPath,
  jsonObject,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import { LimitExceededError, NotFoundError } from "../../errors/errcodes.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { ContentURI, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { PresenceInfo, Profile } from "../../types/api/public_rooms.ts";
import { parseContentUri } from "../../types/identifiers.ts";
import { PresenceState } from "../../types/enums.ts";

const FIELD_PATH = "/_matrix/client/v3/profile/{userId}/{keyName}";

const profile = endpoint("getProfile", "GET", "/_matrix/client/v3/profile/{userId}", fields<Profile>({}));
const getField = endpoint("getProfileField", "GET", FIELD_PATH, jsonObject);
const setField = endpoint("setProfileField", "PUT", FIELD_PATH, nothing);
const deleteField = endpoint("deleteProfileField", "DELETE", FIELD_PATH, nothing);

/** Options of the operations that set a part of the own profile. */
export interface SetProfileOptions extends RequestOptions {
  /** Whether to look first, and to set nothing if nothing would change. Default: true. */
  checkCurrent?: boolean;
}

/**
 * Operations on profiles.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if what is given can't be a user ID.
 */
export interface ProfileAPI {
  /**
   * Gets a user's profile.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns All of the profile.
   * @throws {NotFoundError} If there is no such user, or no profile.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuserid | GET /profile/{userId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function nameOf(client: Client, userId: UserID): Promise<string> {
   *   return (await client.getProfile(userId)).displayname ?? userId;
   * }
   * ```
   */
  getProfile(userId: UserID, options?: RequestOptions): Promise<Profile>;

  /**
   * Gets a user's display name.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns The name; undefined if there is none, or no such user.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuseridkeyname | GET /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function greeting(client: Client, userId: UserID): Promise<string> {
   *   return `Hello ${await client.getDisplayname(userId) ?? userId}!`;
   * }
   * ```
   */
  getDisplayname(userId: UserID, options?: RequestOptions): Promise<string | undefined>;

  /**
   * Sets the acting user's display name, in all rooms too.
   *
   * @param displayname The name; empty or undefined to have none.
   * @param options Whether to look first, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3profileuseridkeyname | PUT /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.setDisplayname("Alice of the stage");
   * console.assert(await client.getDisplayname("@alice:localhost") === "Alice of the stage");
   * ```
   */
  setDisplayname(displayname: string | undefined, options?: SetProfileOptions): Promise<void>;

  /**
   * Gets the content URI of a user's avatar.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns Where the image is; undefined if there is none, or no such user.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuseridkeyname | GET /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function avatarOf(client: Client, userId: UserID): Promise<Uint8Array | undefined> {
   *   const url = await client.getAvatarUrl(userId);
   *   return url === undefined ? undefined : await client.downloadMedia(url);
   * }
   * ```
   */
  getAvatarUrl(userId: UserID, options?: RequestOptions): Promise<ContentURI | undefined>;

  /**
   * Sets the acting user's avatar, in all rooms too.
   *
   * @param avatarUrl Where the image is, as `uploadMedia()` returned it; empty or undefined to have
   *   none.
   * @param options Whether to look first, and request options.
   * @throws {ValueError} If it is no `mxc://` URI.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3profileuseridkeyname | PUT /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function setAvatar(client: Client, path: string): Promise<void> {
   *   await client.setAvatarUrl(await client.uploadMedia(await Deno.readFile(path)));
   * }
   * ```
   */
  setAvatarUrl(avatarUrl: ContentURI | "" | undefined, options?: SetProfileOptions): Promise<void>;

  /**
   * Gets a field of a user's profile. Since version 1.16 of the specification there are others
   * than name and avatar.
   *
   * @param userId The user.
   * @param keyName The field, such as `m.tz`.
   * @param options Request options.
   * @returns The value, unchecked: its form is the other user's choice. Undefined if there is none,
   *   or no such user.
   * @throws {ForbiddenError} If the server refuses to show it.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3profileuseridkeyname | GET /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function timeZone(client: Client, userId: UserID): Promise<string> {
   *   const zone = await client.getProfileField(userId, "m.tz");
   *   return typeof zone === "string" ? zone : "UTC";
   * }
   * ```
   */
  getProfileField(userId: UserID, keyName: string, options?: RequestOptions): Promise<unknown>;

  /**
   * Sets a field of the acting user's profile.
   *
   * @param keyName The field, at most 255 bytes: the specification's, or one named after a domain
   *   that you own.
   * @param value The value: anything JSON can say but `null`, which servers may refuse.
   * @param options Request options.
   * @throws {ProfileTooLargeError} If the profile would exceed 64 KiB.
   * @throws {KeyTooLargeError} If the name is too long.
   * @throws {ValueError} If the value is undefined.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3profileuseridkeyname | PUT /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function moveToBerlin(client: Client): Promise<void> {
   *   await client.setProfileField("m.tz", "Europe/Berlin");
   * }
   * ```
   */
  setProfileField(keyName: string, value: unknown, options?: RequestOptions): Promise<void>;

  /**
   * Takes a field out of the acting user's profile.
   *
   * @param keyName The field.
   * @param options Request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#delete_matrixclientv3profileuseridkeyname | DELETE /profile/{userId}/{keyName}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hideTimeZone(client: Client): Promise<void> {
   *   await client.deleteProfileField("m.tz");
   * }
   * ```
   */
  deleteProfileField(keyName: string, options?: RequestOptions): Promise<void>;
}

/** Makes the operations on profiles. */
export function profileAPI(session: Session): ProfileAPI {
  const { http } = session;

  const get = async (userId: UserID, keyName: string, options?: RequestOptions): Promise<unknown> => {
    try {
      const path = fillPath(FIELD_PATH, { userId, keyName });
      const asked = http[CALL](getField, { path: { userId, keyName } }, options);
      const answer: JsonObject = await asked.catch(withoutUser(path));
      return Object.hasOwn(answer, keyName) ? answer[keyName] ?? undefined : undefined;
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  };

  const getText = async (
    userId: UserID,
    keyName: string,
    options?: RequestOptions,
  ): Promise<string | undefined> => {
    const value = await get(userId, keyName, options);
    return typeof value === "string" && value !== "" ? value : undefined;
  };

  /**
   * Whether a text is known to be set already: to look saves a request that does nothing,
   * and is no more than that.
   */
  const isText = async (value: string, ...[userId, keyName, options]: Parameters<typeof getText>) => {
    try {
      return (await getText(userId, keyName, options) ?? "") === value;
    } catch (error) {
      if (options?.signal?.aborted || error instanceof LimitExceededError) throw error;
      return false;
    }
  };

  /**
   * Sets a text, or takes it away. Servers refuse `null`; those that know no `DELETE`, which came
   * with version 1.16, take the empty text for it.
   */
  const setText = async (
    keyName: string,
    value: string,
    { checkCurrent = true, ...options }: SetProfileOptions,
  ) => {
    const userId = await session.userId(options);
    if (checkCurrent && await isText(value, userId, keyName, options)) return;
    const path = { userId, keyName };
    if (value === "" && await session.supports("v1.16", "uk.tcpip.msc4133.stable", options)) {
      await http[CALL](deleteField, { path }, options);
    } else {
      await http[CALL](setField, { path, body: { [keyName]: value } }, options);
    }
  };

  return {
    getProfile: async (userId, options) => {
      const path = fillPath(profile.path, { userId });
      return await http[CALL](profile, { path: { userId } }, options).catch(withoutUser(path));
    },
    getDisplayname: (userId, options) => getText(userId, "displayname", calledAs(options, "getDisplayname")),
    setDisplayname: (displayname, options) =>
      setText("displayname", displayname ?? "", calledAs(options, "setDisplayname")),
    getAvatarUrl: async (userId, options) =>
      await getText(userId, "avatar_url", calledAs(options, "getAvatarUrl")) as ContentURI | undefined,
    async setAvatarUrl(avatarUrl, options) {
      if (avatarUrl) parseContentUri(avatarUrl);
      await setText("avatar_url", avatarUrl ?? "", calledAs(options, "setAvatarUrl"));
    },
    getProfileField: get,
    async setProfileField(keyName, value, options = {}) {
      if (value === undefined) {
        throw new ValueError(
          `Cannot set the profile field ${keyName}: there is no value; see deleteProfileField()`,
        );
      }
      const userId = await session.userId(options);
      await http[CALL](setField, { path: { userId, keyName }, body: { [keyName]: value } }, options);
    },
    async deleteProfileField(keyName, options = {}) {
      await http[CALL](deleteField, { path: { userId: await session.userId(options), keyName } }, options);
    },
  };
}

/** Makes a `NotFoundError` of what Synapse says of users that it does not know: 404 `M_UNKNOWN`. */
function withoutUser(path: string): (error: unknown) => never {
  return (error) => {
    if (
      !(error instanceof MatrixRequestError) || error.status !== 404 || error.body.errcode !== "M_UNKNOWN"
    ) {
      throw error;
    }
    const { operation, status, body } = error;
    throw new NotFoundError({ operation, method: "GET", path, status, body });
  };
}

const PRESENCE_PATH = "/_matrix/client/v3/presence/{userId}/status";

const getStatus = endpoint("getPresence", "GET", PRESENCE_PATH, fields<PresenceInfo>({ presence: "string" }));
const setStatus = endpoint("setPresence", "PUT", PRESENCE_PATH, nothing);

/** Options of {@link PresenceAPI.setPresence}. */
export interface SetPresenceOptions extends RequestOptions {
  /** Whether the user is there. Default: `online`. */
  presence?: PresenceState;
  /** What the user says about it; the empty text takes it away. Default: not sent. */
  status?: string;
}

/** Operations on presence. */
export interface PresenceAPI {
  /**
   * Gets a user's presence: whether the user is online.
   *
   * @param userId The user.
   * @param options Request options.
   * @returns Whether the user is there, since when, and what the user says about it.
   * @throws {ForbiddenError} If the users share no room.
   * @throws {ValueError} If it is no user ID.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3presenceuseridstatus | GET /presence/{userId}/status}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isOnline(client: Client, userId: UserID): Promise<boolean> {
   *   return (await client.getPresence(userId)).presence === "online";
   * }
   * ```
   */
  getPresence(userId: UserID, options?: RequestOptions): Promise<PresenceInfo>;

  /**
   * Sets whether the acting user is online. The time of the user's last activity is set along with
   * it.
   *
   * A sync sets presence too: online by default.
   *
   * @param options Presence, what to say about it, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3presenceuseridstatus | PUT /presence/{userId}/status}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function goQuiet(client: Client): Promise<void> {
   *   await client.setPresence({ presence: "unavailable" });
   * }
   * ```
   */
  setPresence(options?: SetPresenceOptions): Promise<void>;
}

/** Makes the operations on presence. */
export function presenceAPI(session: Session): PresenceAPI {
  const { http } = session;
  return {
    getPresence: (userId, options) => http[CALL](getStatus, { path: { userId } }, options),
    async setPresence({ presence = PresenceState.ONLINE, status, ...options } = {}) {
      const userId = await session.userId(options);
      await http[CALL](setStatus, { path: { userId }, body: { presence, status_msg: status } }, options);
    },
  };
}
