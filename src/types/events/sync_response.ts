/**
 * The answer of `/sync`.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3sync | GET /sync}
 * @module
 */

import type { BasicEvent, ClientEventWithoutRoomID, StrippedState } from "./client_event.ts";
import type { EventID, RoomID, SyncToken, UserID } from "../ids.ts";

/**
 * What happened since the token of the request, as the server says it. Where each event comes from
 * is said when it is handled.
 */
export interface SyncResponse {
  /** The token to ask with next. */
  next_batch: SyncToken;
  /** What happened in rooms. */
  rooms?: SyncRooms;
  /** Who came and went. */
  presence?: SyncEvents<SyncPresenceEvent>;
  /** What changed of the account's private data. */
  account_data?: SyncEvents<BasicEvent>;
  /**
   * Messages to this device, in the order of their arrival; they come again until the next token is
   * used.
   */
  to_device?: SyncEvents<SyncToDeviceEvent>;
  /** Whose devices changed. */
  device_lists?: DeviceLists;
  /**
   * How many one-time keys the server has left, by algorithm; an algorithm that is missing has
   * none.
   */
  device_one_time_keys_count?: { [algorithm: string]: number };
  /** Algorithms whose fallback key is unused; absent if the server has no fallback keys. */
  device_unused_fallback_key_types?: string[];
}

/** A list of events. */
export interface SyncEvents<Event = BasicEvent> {
  /** The events, in order. */
  events?: Event[];
}

/** An event of the presence section. */
export interface SyncPresenceEvent extends BasicEvent {
  /** The user it is about. */
  sender: UserID;
}

/** A message to this device. */
export interface SyncToDeviceEvent extends BasicEvent {
  /** The user who sent it. */
  sender: UserID;
}

/** Users whose devices need another look. */
export interface DeviceLists {
  /** Users whose devices or identity keys changed, or who now share an encrypted room with us. */
  changed?: UserID[];
  /** Users who share no encrypted room with us any more. */
  left?: UserID[];
}

/** The rooms of a sync response, by what the user is to them. */
export interface SyncRooms {
  /** Rooms the user is in. */
  join?: { [roomId: RoomID]: JoinedRoom };
  /** Rooms the user is invited to. */
  invite?: { [roomId: RoomID]: InvitedRoom };
  /** Rooms the user knocked on. */
  knock?: { [roomId: RoomID]: KnockedRoom };
  /** Rooms the user left or was banned from. */
  leave?: { [roomId: RoomID]: LeftRoom };
}

/** A room the user is in. */
export interface JoinedRoom {
  /** What a client needs to name the room; only what changed. */
  summary?: SyncRoomSummary;
  /** State that changed up to the start of the timeline. */
  state?: SyncEvents<SyncStateEvent>;
  /**
   * In place of `state` where the request had `use_state_after`: state that changed up to the
   * timeline's end.
   */
  state_after?: SyncEvents<SyncStateEvent>;
  /** What happened. */
  timeline?: Timeline;
  /** Typing and receipts. */
  ephemeral?: SyncEvents<BasicEvent>;
  /** What changed of the user's private data of this room. */
  account_data?: SyncEvents<BasicEvent>;
  /** Unread events that notify; outside threads only, if the filter asks for counts by thread. */
  unread_notifications?: UnreadNotificationCounts;
  /** Unread events that notify, by the thread's root, if the filter asks for it. */
  unread_thread_notifications?: { [threadRoot: EventID]: UnreadNotificationCounts };
}

/** A state event of a sync response. */
export interface SyncStateEvent extends ClientEventWithoutRoomID {
  /** Which piece of the room's state of this type it is; often empty. */
  state_key: string;
}

/** A room the user is invited to. */
export interface InvitedRoom {
  /** What the user may see of the room, the own member event included. */
  invite_state?: SyncEvents<StrippedState>;
}

/** A room the user knocked on. */
export interface KnockedRoom {
  /** What the user may see of the room, the own member event included. */
  knock_state?: SyncEvents<StrippedState>;
}

/** A room the user left or was banned from. */
export interface LeftRoom {
  /** State that changed up to the start of the timeline. */
  state?: SyncEvents<SyncStateEvent>;
  /**
   * In place of `state` where the request had `use_state_after`: state that changed up to the
   * timeline's end.
   */
  state_after?: SyncEvents<SyncStateEvent>;
  /** What happened until the user left. */
  timeline?: Timeline;
  /** What changed of the user's private data of this room. */
  account_data?: SyncEvents<BasicEvent>;
}

/** What happened in a room, from old to new. */
export interface Timeline {
  /** The events, in order. */
  events: ClientEventWithoutRoomID[];
  /** Whether the server left out events before these. Default: `false`. */
  limited?: boolean;
  /** Where to read on backwards with `getMessages()`; absent if there is nothing before. */
  prev_batch?: SyncToken;
}

/** What a client needs to name a room without a name. */
export interface SyncRoomSummary {
  /** Users to name the room after, at most five. */
  "m.heroes"?: UserID[];
  /** How many members the room has, the own user included; absent if unchanged. */
  "m.joined_member_count"?: number;
  /** How many users are invited; absent if unchanged. */
  "m.invited_member_count"?: number;
}

/** How many unread events notify. */
export interface UnreadNotificationCounts {
  /** How many of them are highlighted: mentions, mostly. */
  highlight_count?: number;
  /** How many there are. */
  notification_count?: number;
}
