/**
 * What is published: rooms, and what users say about themselves.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#published-room-directory | Published room directory}
 *
 * @module
 */

import type { SpaceChildContent } from "../content/room_state_content.ts";
import type { EncryptionAlgorithm, JoinRule, Membership, Open, PresenceState, RoomType } from "../enums.ts";
import type { StrippedState } from "../events/event.ts";
import type { ContentURI, DirectoryPaginationToken, RoomAlias, RoomID, UserID } from "../ids.ts";

/** A page of the room directory. */
export interface PublicRoomsResponse {
  /** The rooms, those with the most members first. */
  chunk: PublicRoomsChunk[];
  /** The token of the next page; absent on the last one. */
  next_batch?: DirectoryPaginationToken;
  /** The token of the page before; absent on the first one. */
  prev_batch?: DirectoryPaginationToken;
  /** About how many rooms there are, if the server can say. */
  total_room_count_estimate?: number;
}

/** A room, as someone outside sees it. */
export interface PublicRoomsChunk {
  /** Identifies it, also where it has no alias. */
  room_id: RoomID;
  /** How many members the room has. */
  num_joined_members: number;
  /** Whether anyone may read the history. */
  world_readable: boolean;
  /** Whether guests may join. */
  guest_can_join: boolean;
  /** The room's name. */
  name?: string;
  /** The room's topic, as plain text. */
  topic?: string;
  /** The room's picture. */
  avatar_url?: ContentURI;
  /** The alias that it is best known by. */
  canonical_alias?: RoomAlias;
  /** Who may join. Default: `public`. */
  join_rule?: Open<JoinRule>;
  /** What the room is for, if not for conversation. */
  room_type?: Open<RoomType>;
}

/** Selects rooms of the directory. */
export interface PublicRoomsFilter {
  /** Words to look for in name, topic and alias. */
  generic_search_term?: string;
  /** Types of room, `null` for rooms without one; all if absent. */
  room_types?: (Open<RoomType> | null)[];
}

/** The body of a search of the directory. */
export interface PublicRoomsRequest {
  /** The most rooms to return. */
  limit?: number;
  /** The token of the page to return. */
  since?: DirectoryPaginationToken;
  /** Leaves out rooms. Default: all are listed. */
  filter?: PublicRoomsFilter;
  /** Whether to have rooms of all third-party networks. Default: `false`. */
  include_all_networks?: boolean;
  /** The network to have rooms of; not together with `include_all_networks`. */
  third_party_instance_id?: string;
}

/** A room, as someone who may join it sees it. */
export interface RoomSummary extends PublicRoomsChunk {
  /** Of a restricted room: the rooms whose members may join. */
  allowed_room_ids?: RoomID[];
  /** What the room is encrypted with, if it is. */
  encryption?: Open<EncryptionAlgorithm>;
  /** Such as `12`; decides how its events are checked. */
  room_version?: string;
  /** What the user is to the room; of `getRoomSummary()` alone. */
  membership?: Membership;
}

/** A page of a space's rooms. */
export interface SpaceHierarchyResponse {
  /** The rooms, each space before the rooms in it. */
  rooms: SpaceHierarchyRoom[];
  /** The token of the next page; absent on the last one. */
  next_batch?: string;
}

/** A room of a space; it may be a space. */
export interface SpaceHierarchyRoom extends RoomSummary {
  /** The rooms that it lists, if it is a space. */
  children_state: StrippedChildStateEvent[];
}

/** That a room belongs to a space. */
export interface StrippedChildStateEvent extends StrippedState<"m.space.child", SpaceChildContent> {
  /** When it was said, in milliseconds since the epoch; sorts children without order. */
  origin_server_ts: number;
}

/** The room that an alias stands for, and the way to it. */
export interface RoomAliasResponse {
  /** The room that the alias stands for. */
  room_id: RoomID;
  /** Servers that know the room. */
  servers: string[];
}

/** A user's profile. */
export interface Profile {
  /** The user's display name; absent if there is none. */
  displayname?: string;
  /** The user's avatar; absent if there is none. */
  avatar_url?: ContentURI;
  /** The user's time zone, by its IANA name. */
  "m.tz"?: string;
  /** A field of another kind: its name has a dot, as `org.example.pronouns`. */
  [field: `${string}.${string}`]: unknown;
}

/** Whether a user is there, as `getPresence()` answers. */
export interface PresenceInfo {
  /** Whether the user is online, away or offline. */
  presence: PresenceState;
  /** How long ago the user last did something, in milliseconds. */
  last_active_ago?: number;
  /** What the user says about it. */
  status_msg?: string | null;
  /** Whether the user is active right now. */
  currently_active?: boolean;
}

/** The answer to a search for users. */
export interface UserSearchResponse {
  /** The users found, the best match first. */
  results: UserSearchResult[];
  /** Whether there were more than the limit let through. */
  limited: boolean;
}

/** A user that a search found. */
export interface UserSearchResult {
  /** The user who fits the search. */
  user_id: UserID;
  /** The user's display name. */
  display_name?: string;
  /** The user's avatar. */
  avatar_url?: ContentURI;
}
