/**
 * Networks outside Matrix that the server has a bridge to.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#third-party-networks | Third-party networks}
 * @module
 */

import { CALL, endpoint, fields, listOf, type RequestOptions, type Session } from "../http/mod.ts";
import type { RoomAlias, UserID } from "../../types/ids.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

/** A kind of network. */
export interface ThirdPartyProtocol {
  /** The fields that name a user, the widest first. */
  user_fields: string[];
  /** The fields that name a place, the widest first. */
  location_fields: string[];
  /** The network's icon, a content URI. */
  icon: string;
  /** What the fields look like. */
  field_types: { [field: string]: ThirdPartyFieldType };
  /** The networks of this kind. */
  instances: ThirdPartyProtocolInstance[];
}

/** What a field looks like. */
export interface ThirdPartyFieldType {
  /** A regular expression that values match. */
  regexp: string;
  /** An example. */
  placeholder: string;
}

/** A network. */
export interface ThirdPartyProtocolInstance {
  /** The network's name, for users. */
  desc: string;
  /** The network's icon, a content URI; the kind's if absent. */
  icon?: string;
  /** Values of fields that are given. */
  fields: { [field: string]: unknown };
  /** The network, among all of the world. */
  network_id: string;
  /** The network, on this server: what `getRoomDirectory()` takes as `thirdPartyInstanceId`. */
  instance_id?: string;
}

/** A place in a network, as a room. */
export interface ThirdPartyLocation {
  /** The alias that leads to it on Matrix. */
  alias: RoomAlias;
  /** The kind of network. */
  protocol: string;
  /** Where the place is in the network. */
  fields: { [field: string]: unknown };
}

/** A user of a network, as a user of Matrix. */
export interface ThirdPartyUser {
  /** The user in Matrix. */
  userid: UserID;
  /** The kind of network. */
  protocol: string;
  /** Who the user is in the network. */
  fields: { [field: string]: unknown };
}

const ROOT = "/_matrix/client/v3/thirdparty";
const protocols = endpoint(
  "getThirdPartyProtocols",
  "GET",
  `${ROOT}/protocols`,
  fields<{ [protocol: string]: ThirdPartyProtocol }>({}),
);
const protocol = endpoint(
  "getThirdPartyProtocol",
  "GET",
  `${ROOT}/protocol/{protocol}`,
  fields<ThirdPartyProtocol>({ user_fields: "array", location_fields: "array", instances: "array" }),
);
const locations = endpoint(
  "getThirdPartyLocations",
  "GET",
  `${ROOT}/location/{protocol}`,
  listOf<ThirdPartyLocation>(),
);
const locationsOf = endpoint(
  "getThirdPartyLocationsOfAlias",
  "GET",
  `${ROOT}/location`,
  listOf<ThirdPartyLocation>(),
);
const users = endpoint("getThirdPartyUsers", "GET", `${ROOT}/user/{protocol}`, listOf<ThirdPartyUser>());
const usersOf = endpoint("getThirdPartyUsersOfId", "GET", `${ROOT}/user`, listOf<ThirdPartyUser>());

/** Options of the operations that look in a network. */
export interface ThirdPartyLookupOptions extends RequestOptions {
  /** What to look for: values of the fields that the protocol names. Default: everything. */
  fields?: Readonly<Record<string, string>>;
}

/** Operations on networks outside Matrix. */
export interface ThirdPartyAPI {
  /**
   * Lists the kinds of network that the server has a bridge to.
   *
   * @param options Request options.
   * @returns The kinds by name.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyprotocols | GET /thirdparty/protocols}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function bridges(client: Client): Promise<string[]> {
   *   return Object.keys(await client.getThirdPartyProtocols());
   * }
   * ```
   */
  getThirdPartyProtocols(options?: RequestOptions): Promise<{ [protocol: string]: ThirdPartyProtocol }>;

  /**
   * Gets a kind of network that the server has a bridge to.
   *
   * @param protocol Its name.
   * @param options Request options.
   * @returns The kind of network.
   * @throws {NotFoundError} If the server has no bridge to such a network.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyprotocolprotocol | GET /thirdparty/protocol/{protocol}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ircNetworks(client: Client): Promise<string[]> {
   *   return (await client.getThirdPartyProtocol("irc")).instances.map(({ desc }) => desc);
   * }
   * ```
   */
  getThirdPartyProtocol(protocol: string, options?: RequestOptions): Promise<ThirdPartyProtocol>;

  /**
   * Finds rooms that stand for places of a network.
   *
   * @param protocol The kind of network.
   * @param options What to look for, and request options.
   * @returns The places.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartylocationprotocol | GET /thirdparty/location/{protocol}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ircChannel(client: Client, channel: string): Promise<string | undefined> {
   *   return (await client.getThirdPartyLocations("irc", { fields: { channel } }))[0]?.alias;
   * }
   * ```
   */
  getThirdPartyLocations(protocol: string, options?: ThirdPartyLookupOptions): Promise<ThirdPartyLocation[]>;

  /**
   * Finds the places that a room stands for.
   *
   * @param alias An alias of the room.
   * @param options Request options.
   * @returns The places.
   * @throws {ValueError} If it is no alias.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartylocation | GET /thirdparty/location}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomAlias } from "@greenroom/matrix/types";
   *
   * export async function networksOf(client: Client, alias: RoomAlias): Promise<string[]> {
   *   return (await client.getThirdPartyLocationsOfAlias(alias)).map(({ protocol }) => protocol);
   * }
   * ```
   */
  getThirdPartyLocationsOfAlias(alias: RoomAlias, options?: RequestOptions): Promise<ThirdPartyLocation[]>;

  /**
   * Finds Matrix users who stand for users of a network.
   *
   * @param protocol The kind of network.
   * @param options What to look for, and request options.
   * @returns The users.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyuserprotocol | GET /thirdparty/user/{protocol}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function ircUser(client: Client, nickname: string): Promise<string | undefined> {
   *   return (await client.getThirdPartyUsers("irc", { fields: { nickname } }))[0]?.userid;
   * }
   * ```
   */
  getThirdPartyUsers(protocol: string, options?: ThirdPartyLookupOptions): Promise<ThirdPartyUser[]>;

  /**
   * Finds the users of networks whom a Matrix user stands for.
   *
   * @param userId The Matrix user.
   * @param options Request options.
   * @returns The users.
   * @throws {ValueError} If it is no user ID.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3thirdpartyuser | GET /thirdparty/user}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { UserID } from "@greenroom/matrix/types";
   *
   * export async function isBridged(client: Client, userId: UserID): Promise<boolean> {
   *   return (await client.getThirdPartyUsersOfId(userId)).length > 0;
   * }
   * ```
   */
  getThirdPartyUsersOfId(userId: UserID, options?: RequestOptions): Promise<ThirdPartyUser[]>;
}

/** Makes the operations on networks outside Matrix. */
export function thirdPartyAPI({ http }: Session): ThirdPartyAPI {
  return {
    getThirdPartyProtocols: (options) => http[CALL](protocols, { path: {} }, options),
    getThirdPartyProtocol: (name, options) => http[CALL](protocol, { path: { protocol: name } }, options),
    getThirdPartyLocations: (name, { fields, ...options } = {}) =>
      http[CALL](locations, { path: { protocol: name }, query: fields }, options),
    getThirdPartyLocationsOfAlias: async (alias, options) =>
      await http[CALL](
        locationsOf,
        { path: {}, query: { alias: checkIdentifier("roomAlias", alias) } },
        options,
      ),
    getThirdPartyUsers: (name, { fields, ...options } = {}) =>
      http[CALL](users, { path: { protocol: name }, query: fields }, options),
    getThirdPartyUsersOfId: async (userId, options) =>
      await http[CALL](usersOf, { path: {}, query: { userid: checkIdentifier("userId", userId) } }, options),
  };
}
