/**
 * The endpoints of Synapse's administration that moderators need, and what they answer.
 *
 * @see {@link https://element-hq.github.io/synapse/latest/usage/administration/admin_api/ | Synapse Admin API}
 * Over 300 lines because each endpoint stands beside what it answers.
 *
 * @module
 */

import { endpoint, field, nothing, shaped } from "../api/http/mod.ts";
import {
  boolean,
  eventId,
  list,
  map,
  nullable,
  number,
  object,
  optional,
  roomId,
  text,
  userId,
} from "../types/checks/shape.ts";
import type { EventID, RoomID, UserID } from "../types/ids.ts";

const V1 = "/_synapse/admin/v1";
const V2 = "/_synapse/admin/v2";

/** A user of the homeserver, as lists have it. */
export interface AdminUser {
  /** Who it is: Synapse calls the user ID so. */
  name: UserID;
  /** The display name; `null` if there is none. */
  displayname?: string | null;
  /** The address of the avatar; `null` if there is none. */
  avatar_url?: string | null;
  /** Whether the user may use the administration. */
  admin: boolean;
  /** Whether the account has ended. */
  deactivated: boolean;
  /** Whether nobody else gets what the user sends. */
  shadow_banned: boolean;
  /** Whether the user is locked out. */
  locked: boolean;
  /** Whether the user may only read. */
  suspended?: boolean;
  /** Whether it is the account of a guest. */
  is_guest?: boolean;
  /** Whether the account was to be erased. */
  erased?: boolean;
  /** When the account was made: in lists in milliseconds since the epoch, of one user in seconds. */
  creation_ts: number;
  /** When the user was seen last, in milliseconds since the epoch; `null`: never. */
  last_seen_ts?: number | null;
}

/** A part of the users. */
export interface AdminUserPage {
  /** The accounts of this part, in order. */
  users: AdminUser[];
  /** Where the next part begins; absent at the end. */
  next_token?: string;
  /** How many users there are. */
  total: number;
}

/** A room that the homeserver knows. */
export interface AdminRoom {
  /** The ID, for the other operations. */
  room_id: RoomID;
  /** Its name; `null` if there is none. */
  name?: string | null;
  /** Its main address; `null` if there is none. */
  canonical_alias?: string | null;
  /** How many are in it. */
  joined_members: number;
  /** How many of them are users of this homeserver. */
  joined_local_members: number;
  /** The version of the room. */
  version?: string | null;
  /** Who made it; `null` if nobody knows any more. */
  creator?: UserID | null;
  /** How it is encrypted; `null` if it is not. */
  encryption?: string | null;
  /** Whether it is in the directory. */
  public?: boolean;
  /** Who may join. */
  join_rules?: string | null;
  /** The topic, of one room alone. */
  topic?: string | null;
}

/** A part of the rooms. */
export interface AdminRoomPage {
  /** What the homeserver knows of each, in order. */
  rooms: AdminRoom[];
  /** Where this part begins. */
  offset: number;
  /** Where the next part begins; absent at the end. */
  next_batch?: number;
  /** How many rooms there are. */
  total_rooms: number;
}

/** How far the deletion of a room is. */
export interface RoomDeletion {
  /** How far: `scheduled`, `active`, `complete` or `failed`, and what later versions have. */
  status: string;
  /** Why it has failed. */
  error?: string | null;
}

/** From where a device of a user has asked. */
export interface AdminConnection {
  /** The device; empty: one without a device, such as an application service's. */
  device_id: string;
  /** The IP address. */
  ip: string;
  /** When it asked last, in milliseconds since the epoch; absent: the server does not say. */
  last_seen?: number | null;
  /** What the client calls itself. */
  user_agent?: string | null;
}

/** How far the redaction of a user's events is. */
export interface UserRedaction {
  /** How far: `scheduled`, `active`, `complete` or `failed`, and what later versions have. */
  status: string;
  /** The events that could not be redacted, and why. */
  failed_redactions?: { [eventId: EventID]: string };
}

/** A token with which users can register. */
export interface RegistrationToken {
  /** The token. Secret. */
  token: string;
  /** How often it can be used; `null`: without a limit. */
  uses_allowed: number | null;
  /** How many registrations with it are under way. */
  pending: number;
  /** How many have ended. */
  completed: number;
  /** When it expires, in milliseconds since the epoch; `null`: never. */
  expiry_time: number | null;
}

const maybe = optional(nullable(text));

const user = object<AdminUser>({
  name: userId,
  displayname: maybe,
  avatar_url: maybe,
  admin: boolean,
  deactivated: boolean,
  shadow_banned: boolean,
  locked: boolean,
  suspended: optional(boolean),
  is_guest: optional(boolean),
  erased: optional(boolean),
  creation_ts: number,
  last_seen_ts: optional(nullable(number)),
});

const room = object<AdminRoom>({
  room_id: roomId,
  name: maybe,
  canonical_alias: maybe,
  joined_members: number,
  joined_local_members: number,
  version: maybe,
  creator: optional(nullable(userId)),
  encryption: maybe,
  public: optional(boolean),
  join_rules: maybe,
  topic: maybe,
});

const registrationToken = object<RegistrationToken>({
  token: text,
  uses_allowed: nullable(number),
  pending: number,
  completed: number,
  expiry_time: nullable(number),
});

interface Whois {
  devices: { [deviceId: string]: { sessions: { connections: Omit<AdminConnection, "device_id">[] }[] } };
}

const connection = object<Omit<AdminConnection, "device_id">>({
  ip: text,
  last_seen: optional(nullable(number)),
  user_agent: maybe,
});
const session = object<Whois["devices"][string]["sessions"][number]>({ connections: list(connection) });
const device = object<Whois["devices"][string]>({ sessions: list(session) });

const USER = `${V2}/users/{userId}` as const;
const ROOM = `${V1}/rooms/{roomId}` as const;
const TOKENS = `${V1}/registration_tokens` as const;
const REPEATABLE = { idempotent: true };

/** The endpoints, by the operation that calls them. */
export const ENDPOINTS = {
  listUsers: endpoint(
    "listUsers",
    "GET",
    `${V2}/users`,
    shaped(object<AdminUserPage>({ users: list(user), next_token: optional(text), total: number })),
  ),
  getUser: endpoint("getUser", "GET", USER, shaped(user)),
  lockUser: endpoint("updateUser", "PUT", USER, nothing),
  suspendUser: endpoint("updateUser", "PUT", `${V1}/suspend/{userId}`, nothing),
  shadowBanUser: endpoint("updateUser", "POST", `${V1}/users/{userId}/shadow_ban`, nothing, REPEATABLE),
  unshadowBanUser: endpoint("updateUser", "DELETE", `${V1}/users/{userId}/shadow_ban`, nothing),
  deactivateUser: endpoint("deactivateUser", "POST", `${V1}/deactivate/{userId}`, nothing, REPEATABLE),
  resetPassword: endpoint("resetPassword", "POST", `${V1}/reset_password/{userId}`, nothing, REPEATABLE),
  listUserRooms: endpoint(
    "listUserRooms",
    "GET",
    `${V1}/users/{userId}/joined_rooms`,
    shaped(object<{ joined_rooms: RoomID[] }>({ joined_rooms: list(roomId) })),
  ),
  listUserConnections: endpoint(
    "listUserConnections",
    "GET",
    "/_matrix/client/v3/admin/whois/{userId}",
    shaped(object<Whois>({ devices: map<Whois["devices"]>(device) })),
  ),
  redactUserEvents: endpoint(
    "redactUserEvents",
    "POST",
    `${V1}/user/{userId}/redact`,
    field<string>("redact_id", "string"),
  ),
  getUserRedaction: endpoint(
    "getUserRedaction",
    "GET",
    `${V1}/user/redact_status/{redactId}`,
    shaped(object<UserRedaction>({
      status: text,
      failed_redactions: optional(map<{ [eventId: EventID]: string }>(text)),
    })),
  ),
  listRooms: endpoint(
    "listRooms",
    "GET",
    `${V1}/rooms`,
    shaped(object<AdminRoomPage>({
      rooms: list(room),
      offset: number,
      next_batch: optional(number),
      total_rooms: number,
    })),
  ),
  getRoom: endpoint("getRoom", "GET", ROOM, shaped(room)),
  deleteRoom: endpoint("deleteRoom", "DELETE", `${V2}/rooms/{roomId}`, field<string>("delete_id", "string"), {
    idempotent: false,
  }),
  getRoomDeletion: endpoint(
    "getRoomDeletion",
    "GET",
    `${V2}/rooms/delete_status/{deleteId}`,
    shaped(object<RoomDeletion>({ status: text, error: maybe })),
  ),
  blockRoom: endpoint("blockRoom", "PUT", `${ROOM}/block`, nothing),
  unblockRoom: endpoint("unblockRoom", "PUT", `${ROOM}/block`, nothing),
  quarantineMedia: endpoint(
    "quarantineMedia",
    "POST",
    `${V1}/media/quarantine/{serverName}/{mediaId}`,
    nothing,
    REPEATABLE,
  ),
  quarantineUserMedia: endpoint(
    "quarantineUserMedia",
    "POST",
    `${V1}/user/{userId}/media/quarantine`,
    field<number>("num_quarantined", "number"),
    REPEATABLE,
  ),
  listRegistrationTokens: endpoint(
    "listRegistrationTokens",
    "GET",
    TOKENS,
    shaped(
      object<{ registration_tokens: RegistrationToken[] }>({ registration_tokens: list(registrationToken) }),
    ),
  ),
  createRegistrationToken: endpoint(
    "createRegistrationToken",
    "POST",
    `${TOKENS}/new`,
    shaped(registrationToken),
  ),
  deleteRegistrationToken: endpoint("deleteRegistrationToken", "DELETE", `${TOKENS}/{token}`, nothing),
  sendServerNotice: endpoint(
    "sendServerNotice",
    "PUT",
    `${V1}/send_server_notice/{txnId}`,
    shaped(object<{ event_id: EventID }>({ event_id: eventId })),
  ),
};
