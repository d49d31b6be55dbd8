/**
 * What an application service is asked by its homeserver.
 *
 * @module
 */

import type { RoomAlias, UserID } from "../types/ids.ts";
import type { JsonObject } from "../types/json.ts";

/** A profile of a user that is about to be made. */
export interface GhostProfile {
  /** The display name; undefined: it stays as it is. */
  displayname?: string;
  /** The avatar, as `mxc://` URI; undefined: it stays as it is. */
  avatarUrl?: `mxc://${string}`;
}

/** Answers to what the homeserver asks of users and aliases in the namespaces. Default: there are none. */
export interface QueryHandlers {
  /**
   * Is asked for a user that the homeserver does not have.
   *
   * @param userId The user, one of the namespaces.
   * @returns The profile of a user who is then registered; undefined if there is to be none.
   */
  user?: (userId: UserID) => GhostProfile | undefined | Promise<GhostProfile | undefined>;
  /**
   * Is asked for an alias that the homeserver does not have. It makes the room with that alias, if
   * there is to be one.
   *
   * @param alias The alias.
   * @returns Whether there is a room now.
   */
  room?: (alias: RoomAlias) => boolean | Promise<boolean>;
}

/** Answers to questions about networks that are bridged to. Default: nothing is known. */
export interface ThirdPartyHandlers {
  /** What is to be known of a network; undefined: there is none of that name. */
  protocol?: (protocol: string) => JsonObject | undefined | Promise<JsonObject | undefined>;
  /** Users of Matrix who stand for users of a network, by fields that the network defines. */
  usersOf?: (protocol: string, fields: Record<string, string>) => JsonObject[] | Promise<JsonObject[]>;
  /** Rooms that stand for places of a network, by fields that the network defines. */
  locationsOf?: (protocol: string, fields: Record<string, string>) => JsonObject[] | Promise<JsonObject[]>;
  /** The users of networks that a user of Matrix stands for. */
  user?: (userId: string) => JsonObject[] | Promise<JsonObject[]>;
  /** The places of networks that a room stands for. */
  location?: (alias: string) => JsonObject[] | Promise<JsonObject[]>;
}
