/**
 * What operations on rooms take and return.
 *
 * @module
 */

import type { Membership, Open, ThirdPartyMedium } from "../enums.ts";
import type { ContentURI, EventID, RoomID, SyncToken, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { ClientEvent, ClientStateEvent } from "./event.ts";

/** A piece of state that a new room is to have. */
export interface InitialStateEvent {
  /** The type of the event, like `m.room.topic`. */
  type: string;
  /** Which piece of the state of this type it is. Default: empty. */
  state_key?: string;
  /** The content of the event. */
  content: JsonObject;
}

/** Someone to invite who may not be in Matrix yet. */
export interface Invite3pid {
  /** The identity server to ask who it is. */
  id_server: string;
  /** A token of the identity server. Secret. */
  id_access_token: string;
  /** The kind of address: `email` or `msisdn`. */
  medium: Open<ThirdPartyMedium>;
  /** The address, mostly an email address. */
  address: string;
}

/** An identity server's word that the user is the one who was invited by address. */
export interface ThirdPartySigned {
  /** The user who invited. */
  sender: UserID;
  /** The user who was invited. */
  mxid: UserID;
  /** The state key of the `m.room.third_party_invite` event. */
  token: string;
  /** Signatures by server and key ID, in unpadded base64. */
  signatures: { [server: string]: { [keyId: string]: string } };
}

/** A member of a room, as `/joined_members` returns it. */
export interface RoomMember {
  /** The member's display name in the room. */
  display_name?: string | null;
  /** The member's avatar in the room. */
  avatar_url?: ContentURI | null;
}

/** A member of a room and what the user is to it. */
export interface JoinedMember extends RoomMember {
  /** Always `join`; added by Greenroom. */
  membership: typeof Membership.JOIN;
}

/** The answer to an upgrade of a room. */
export interface RoomUpgradeResponse {
  /** The new room. */
  replacement_room: RoomID;
}

/** A page of a room's history. */
export interface MessagesResponse {
  /** Where the page starts; some servers do not say. */
  start?: SyncToken;
  /** Where the page ends, and the next one starts; absent if nothing comes after. */
  end?: SyncToken;
  /**
   * The events, in the direction that was asked for. A page can be empty without being the last.
   */
  chunk: ClientEvent[];
  /** State that helps to show the events: their senders' member events. */
  state?: ClientStateEvent[];
}

/** An event and what is around it. */
export interface EventContextResponse {
  /** The event that was requested. */
  event?: ClientEvent;
  /** Events before it, the nearest first. */
  events_before?: ClientEvent[];
  /** Events after it, the nearest first. */
  events_after?: ClientEvent[];
  /** The state of the room at the last of the events. */
  state?: ClientStateEvent[];
  /** The token from which to read earlier events. */
  start?: SyncToken;
  /** The token from which to read later events. */
  end?: SyncToken;
}

/** A page of the events that relate to an event. */
export interface RelationsResponse {
  /** The events, in the direction that was asked for. */
  chunk: ClientEvent[];
  /** The token of the next page; absent on the last one. */
  next_batch?: SyncToken;
  /** The token of the page before; absent on the first one. */
  prev_batch?: SyncToken;
  /** How many steps of relation were followed, if it was asked for more than one. */
  recursion_depth?: number;
}

/** A page of a room's threads. */
export interface ThreadsResponse {
  /** The roots of the threads, the one with the newest event first. */
  chunk: ClientEvent[];
  /** The token of the next page; absent on the last one. */
  next_batch?: SyncToken;
}

/** The event that is closest to a time. */
export interface TimestampToEventResponse {
  /** Identifies the event that is nearest to the time. */
  event_id: EventID;
  /** When it was sent, in milliseconds since the epoch. */
  origin_server_ts: number;
}
