/**
 * What the calls of an administrator take, and what of it is refused before anything is sent:
 * Synapse takes much for true that is not, and an administrator's mistake is not undone.
 *
 * @module
 */

import { CALL, checkActOptions, checkInteger, type HTTPAPI, type RequestOptions } from "../api/http/mod.ts";
import { ValueError } from "../errors/matrix_error.ts";
import type { Open } from "../types/enums.ts";
import { checkIdentifier } from "../types/identifiers.ts";
import type { RoomID, TransactionID, UserID } from "../types/ids.ts";

/** What {@link SynapseAdmin} asks with: a client, whose user is an administrator. */
export interface AdministratingClient {
  /** Sends the HTTP requests of all operations. */
  readonly api: HTTPAPI;
}

/** Options of {@link SynapseAdmin.listUsers}. */
export interface ListAdminUsersOptions extends RequestOptions {
  /** Where the part begins: `next_token` of the one before. Default: at the beginning. */
  from?: string;
  /** How many users at most. Default: Synapse's, 100. */
  limit?: number;
  /** Only users with this in their ID or display name. Default: all. */
  name?: string;
  /** Whether guests are in the list. Default: true. */
  guests?: boolean;
  /** Whether users whose accounts have ended are in the list. Default: false. */
  deactivated?: boolean;
  /** Whether users who are locked out are in the list. Default: false. */
  locked?: boolean;
}

/** What {@link SynapseAdmin.updateUser} changes. */
export interface AdminUserChange {
  /** Whether the user may only read. Default: it stays. */
  suspended?: boolean;
  /** Whether the user is locked out. Default: it stays. */
  locked?: boolean;
  /** Whether nobody else gets what the user sends. Default: it stays. */
  shadowBanned?: boolean;
}

/** Options of {@link SynapseAdmin.deactivateUser}. */
export interface DeactivateUserOptions extends RequestOptions {
  /** Whether to erase the user's data and to hide messages from who comes later. Default: false. */
  erase?: boolean;
}

/** Options of {@link SynapseAdmin.resetPassword}. */
export interface ResetPasswordOptions extends RequestOptions {
  /** Whether all devices of the user are logged out. Default: true. */
  logoutDevices?: boolean;
}

/** Options of {@link SynapseAdmin.redactUserEvents}. */
export interface RedactUserEventsOptions extends RequestOptions {
  /** In which rooms. Default: in those that the user is in, or is banned from. */
  rooms?: readonly RoomID[];
  /** Why. Default: nothing is said. */
  reason?: string;
  /** How many events in each room at most, the latest first. Default: Synapse's, 1,000. */
  limit?: number;
}

/** Options of {@link SynapseAdmin.listRooms}. */
export interface ListAdminRoomsOptions extends RequestOptions {
  /** Where the part begins: `next_batch` of the one before. Default: 0. */
  from?: number;
  /** How many rooms at most. Default: Synapse's, 100. */
  limit?: number;
  /** What the rooms are ordered by. Default: the name. */
  orderBy?: Open<
    "name" | "canonical_alias" | "joined_members" | "joined_local_members" | "version" | "creator"
  >;
  /** Only rooms with this in their name or address. Default: all. */
  searchTerm?: string;
}

/** Options of {@link SynapseAdmin.deleteRoom}. */
export interface DeleteRoomOptions extends RequestOptions {
  /** Whether users can't join it again. Default: false. */
  block?: boolean;
  /** Whether its history is deleted. Default: true. */
  purge?: boolean;
  /** Whether it is deleted although users could not be removed. Default: false. */
  forcePurge?: boolean;
  /** What is said in the room that the users come to. Default: Synapse's. */
  message?: string;
  /** Who makes a room that the users are joined to, where `message` is said. Default: there is none. */
  newRoomUserId?: UserID;
  /** The name of that room. Default: Synapse's. */
  newRoomName?: string;
}

/** Options of {@link SynapseAdmin.listRegistrationTokens}. */
export interface ListRegistrationTokensOptions extends RequestOptions {
  /** Whether only tokens are listed that can be used, or only others. Default: all. */
  valid?: boolean;
}

/** Options of {@link SynapseAdmin.createRegistrationToken}. */
export interface CreateRegistrationTokenOptions extends RequestOptions {
  /** The token. Default: Synapse makes one up. */
  token?: string;
  /** How long the token is that Synapse makes up. Default: Synapse's, 16. */
  length?: number;
  /** How often it can be used. Default: without a limit. */
  usesAllowed?: number;
  /** When it expires, in milliseconds since the epoch. Default: never. */
  expiresAt?: number;
}

/** Options of {@link SynapseAdmin.sendServerNotice}. */
export interface SendServerNoticeOptions extends RequestOptions {
  /** The transaction ID: Synapse takes two with the same one for one. Default: a new one. */
  txnId?: TransactionID;
}

/** Refuses a value that an option can't have. */
type Check = (name: string, value: unknown, call: string) => void;

/** The options of a call, beside those of its request. */
type Checks<Options extends RequestOptions> = Readonly<
  Record<keyof Omit<Options, keyof RequestOptions> & string, Check>
>;

export const boolean: Check = (name, value, call) => {
  if (typeof value !== "boolean") throw wrong(call, `${name} must be true or false`, value);
};
const text: Check = (name, value, call) => {
  if (typeof value !== "string") throw wrong(call, `${name} must be a string`, value);
};
export const filledText: Check = (name, value, call) => {
  text(name, value, call);
  if (value === "") throw wrong(call, `${name} must be a string`, value);
};
const userId: Check = (_, value) => void checkIdentifier("userId", value as UserID);
const integer = (min: number): Check => (name, value) => checkInteger(name, value as number, min);
const roomIds: Check = (_, rooms, call) => {
  if (!Array.isArray(rooms) || rooms.length === 0) {
    throw new ValueError(
      `Cannot ${call}: rooms must be an array of room IDs that is not empty; leave it out for all rooms`,
    );
  }
  for (const roomId of rooms) checkIdentifier("roomId", roomId);
};

const listUsers: Checks<ListAdminUsersOptions> = {
  ...{
    from: filledText,
    limit: integer(1),
    name: text,
    guests: boolean,
    deactivated: boolean,
    locked: boolean,
  },
};
const deactivateUser: Checks<DeactivateUserOptions> = { erase: boolean };
const resetPassword: Checks<ResetPasswordOptions> = { logoutDevices: boolean };
const redactUserEvents: Checks<RedactUserEventsOptions> = { rooms: roomIds, reason: text, limit: integer(1) };
const listRooms: Checks<ListAdminRoomsOptions> = {
  ...{ from: integer(0), limit: integer(1), orderBy: text, searchTerm: text },
};
const deleteRoom: Checks<DeleteRoomOptions> = {
  ...{ block: boolean, purge: boolean, forcePurge: boolean, message: text },
  ...{ newRoomUserId: userId, newRoomName: text },
};
const listRegistrationTokens: Checks<ListRegistrationTokensOptions> = { valid: boolean };
const createRegistrationToken: Checks<CreateRegistrationTokenOptions> = {
  ...{ token: filledText, length: integer(1), usesAllowed: integer(0), expiresAt: integer(0) },
};
const sendServerNotice: Checks<SendServerNoticeOptions> = { txnId: filledText };

/** What each call takes. */
export const OPTIONS = {
  ...{ listUsers, deactivateUser, resetPassword, redactUserEvents, listRooms, deleteRoom },
  ...{ listRegistrationTokens, createRegistrationToken, sendServerNotice },
};

/**
 * Refuses options that a call has not, and values that they can't have.
 *
 * @returns The options.
 * @throws {ValueError} If there is one.
 */
export function checked<Options extends RequestOptions>(
  call: string,
  options: Options,
  checks: Checks<Options>,
): Options {
  const names = Object.keys(checks) as (keyof typeof checks)[];
  checkActOptions(options, Object.fromEntries(names.map((name) => [name, true])) as never, call);
  for (const name of names) {
    const value: unknown = options[name as keyof Options];
    if (value !== undefined) checks[name](name, value, call);
  }
  return options;
}

/**
 * What a client asks by.
 *
 * @throws {ValueError} If it is no client.
 */
export function transportOf(client: AdministratingClient): HTTPAPI {
  const api: HTTPAPI | undefined = (client as AdministratingClient | undefined)?.api;
  if (typeof api?.[CALL] === "function") return api;
  throw new ValueError("Cannot make a SynapseAdmin: there is no client; give the Client of an administrator");
}

/** The error for a value of another kind; it does not show the value, which may be a secret. */
export function wrong(call: string, rule: string, value: unknown): ValueError {
  const kind = value === "" ? "empty" : value === undefined ? "missing" : `of type ${typeof value}`;
  return new ValueError(`Cannot ${call}: ${rule}; it is ${kind}`);
}
