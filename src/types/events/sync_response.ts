/**
 * Sync responses, as they are; and filters, by which a sync or a page of history has only some events.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#syncing | Syncing}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#filtering | Filtering}
 *
 * @module
 */

import type { Open } from "../enums.ts";
import type { EventID, RoomID, SyncToken, UserID } from "../ids.ts";
import type { BasicEvent, ClientEventWithoutRoomID, StrippedState } from "./event.ts";

/**
 * What happened since the token of the request, as the server says it. Where each event comes from
 * is said when it is handled.
 */
export interface SyncResponse {
  /** The token to ask with next. */
  next_batch: SyncToken;
  /** What happened in rooms. */
  rooms?: SyncRooms;
  /** Presence updates of users. */
  presence?: SyncEvents<SyncPresenceEvent>;
  /** What changed of the account's private data. */
  account_data?: SyncEvents<BasicEvent>;
  /**
   * Messages to this device, in the order of their arrival; they come again until the next token is
   * used.
   */
  to_device?: SyncEvents<SyncToDeviceEvent>;
  /** The users whose devices have changed. */
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
  /** The new events of the room. */
  timeline?: Timeline;
  /** Typing and receipts. */
  ephemeral?: SyncEvents<BasicEvent>;
  /** What changed of the user's private data of this room. */
  account_data?: SyncEvents<BasicEvent>;
  /**
   * Sticky events that are not in the timeline, where the homeserver has them:
   * what members want to be known for a time by all who are in the room.
   *
   * @experimental It has the unstable form of MSC4354: a minor version may change it.
   */
  msc4354_sticky?: SyncEvents<ClientEventWithoutRoomID>;
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
  /** The number of unread events that notify. */
  notification_count?: number;
}

/** What a sync response is to have; everything if empty. */
export interface Filter {
  /** Paths of the event members to send, such as `content.body`; all members if absent. */
  event_fields?: string[];
  /** How events look. Default: `client`. Greenroom understands no other. */
  event_format?: Open<"client" | "federation">;
  /** Which presence updates to send. */
  presence?: EventFilter;
  /** Which of the account's private data, rooms' not included. */
  account_data?: EventFilter;
  /** Which events of rooms to send. */
  room?: RoomFilter;
}

/** Which rooms, and which events of them. */
export interface RoomFilter {
  /** Rooms to send; all if absent. */
  rooms?: RoomID[];
  /** Rooms not to send, even if `rooms` has them. */
  not_rooms?: RoomID[];
  /** Whether to send rooms that the user left. Default: `false`. */
  include_leave?: boolean;
  /** Which messages and changes of state. */
  timeline?: RoomEventFilter;
  /** Leaves out state events. Default: all are given. */
  state?: RoomEventFilter;
  /** Which typing notices and receipts to send. */
  ephemeral?: RoomEventFilter;
  /** Which of the user's private data of rooms. */
  account_data?: RoomEventFilter;
}

/** Leaves out events of any kind. */
export interface EventFilter {
  /** At most how many, more than 0. */
  limit?: number;
  /** Types to send, `*` for any characters; all if absent. */
  types?: string[];
  /** Types not to send, even if `types` has them. */
  not_types?: string[];
  /** Senders to send from; all if absent. */
  senders?: UserID[];
  /** Senders not to send from, even if `senders` has them. */
  not_senders?: UserID[];
}

/** Selects events of rooms. */
export interface RoomEventFilter extends EventFilter {
  /** Rooms to send; all if absent. */
  rooms?: RoomID[];
  /** Rooms not to send, even if `rooms` has them. */
  not_rooms?: RoomID[];
  /** Whether to send member events only of the users whose events are sent. Default: `false`. */
  lazy_load_members?: boolean;
  /**
   * With `lazy_load_members`: whether to send member events that were sent before. Default:
   * `false`.
   */
  include_redundant_members?: boolean;
  /** Whether events must have, or must not have, a `url` in their content; all may if absent. */
  contains_url?: boolean;
  /** In a sync: whether to count unread events by thread. Default: `false`. */
  unread_thread_notifications?: boolean;
}
