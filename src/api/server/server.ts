/**
 * What the server lets the user do, and which servers relay calls.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#capabilities-negotiation | Capabilities negotiation}
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#voice-over-ip | Voice over IP}
 * @module
 */

import { CALL, endpoint, field, fields, jsonObject, type RequestOptions, type Session } from "../http/mod.ts";

export {
  object,
  type SlidingAnswer,
  type SlidingRoom,
  type SlidingSpelling,
  slidingSpelling,
} from "./sliding_sync.ts";
export { freshFilter, type SyncAPI, syncAPI, type SyncOptions } from "./sync.ts";
export { type AccountModerationAPI, accountModerationAPI } from "./account_moderation.ts";
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
   * Asks what the server lets the user do.
   *
   * @param options Request options.
   * @returns The capabilities; what is missing has the default that its documentation says.
   * @see
   * {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3capabilities | GET /capabilities}
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
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3voipturnserver | GET /voip/turnServer}
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
