/**
 * Events: as the server sends them, and as handlers get them, with where they came from.
 * `encryptionOf()` returns how an event was encrypted.
 *
 * What events have beside their content is checked when they come. Their content is what the
 * sender wrote: it is checked where it has a type, for handlers of types, and where an operation
 * says so; elsewhere it is any object.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#room-event-format | Room event format}
 *
 * @module
 */

import type { PresenceContent } from "../content/to_device_content.ts";
import type { Membership, Open } from "../enums.ts";
import type { EventID, RoomID, TransactionID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** What all events have. */
export interface BasicEvent<Type extends string = string, Content extends object = JsonObject> {
  /** The event's type, such as `m.room.message`. */
  type: Type;
  /** What the event says; its shape depends on the type. */
  content: Content;
}

/** An event of a room, where the room is known from elsewhere, as it is in a sync response. */
export interface ClientEventWithoutRoomID<Type extends string = string, Content extends object = JsonObject>
  extends BasicEvent<Type, Content> {
  /** Unique in all rooms; its format depends on the room's version. */
  event_id: EventID;
  /** The user who sent it. */
  sender: UserID;
  /** When the sender's server sent it, by that server's clock: milliseconds since the epoch. */
  origin_server_ts: number;
  /**
   * Of state, and of nothing else: which piece of the room's state of this type it is; often empty.
   */
  state_key?: string;
  /** What the own server adds to the event and its sender did not sign. */
  unsigned?: UnsignedData;
  /** Of `m.room.redaction`: the event to redact. Since room version 11 it stands in the content. */
  redacts?: EventID;
}

/** What happened in a room, as the homeserver shows it. */
export interface ClientEvent<Type extends string = string, Content extends object = JsonObject>
  extends ClientEventWithoutRoomID<Type, Content> {
  /** The room of the event. */
  room_id: RoomID;
}

/** What the state key of a type is: of a member event the user it is about. */
export type StateKeyOf<Type extends string> = Type extends "m.room.member" ? UserID : string;

/** An event that is part of a room's state. */
export interface ClientStateEvent<Type extends string = string, Content extends object = JsonObject>
  extends ClientEvent<Type, Content> {
  /**
   * Which piece of the room's state of this type it is; often empty, and of a member event the
   * user.
   */
  state_key: StateKeyOf<Type>;
}

/**
 * As much of a state event as someone outside the room gets to see, with an invitation for example.
 */
export interface StrippedState<Type extends string = string, Content extends object = JsonObject>
  extends BasicEvent<Type, Content> {
  /**
   * Which piece of the room's state of this type it is; often empty, and of a member event the
   * user.
   */
  state_key: StateKeyOf<Type>;
  /** The user who sent it. */
  sender: UserID;
  /** The event's ID, if the server sent the whole event. */
  event_id?: EventID;
  /** When it was sent, in milliseconds since the epoch, if the server sent the whole event. */
  origin_server_ts?: number;
  /** What the own server adds to the event, if the server sent the whole event. */
  unsigned?: UnsignedData;
}

/** What the own server adds to an event. */
export interface UnsignedData {
  /**
   * How long ago the event was sent, in milliseconds; wrong, even negative, if a server's clock is.
   */
  age?: number;
  /** The transaction ID it was sent with; only this device gets to see it. */
  transaction_id?: TransactionID;
  /**
   * Of state: the content that this event replaced, if the user may see it. It may be anything,
   * empty for one.
   */
  prev_content?: JsonObject;
  /** Of state: the event that this event replaced. */
  replaces_state?: EventID;
  /** The redaction that emptied this event. */
  redacted_because?: BundledEvent;
  /** What the user who asked was to the room when the event was sent. */
  membership?: Open<Membership>;
  /** What the server summed up of the events that relate to this one. */
  "m.relations"?: BundledAggregations;
  /** Of the own invitation: the other state that came with it. */
  invite_room_state?: StrippedState[];
  /** Of the own knock: the other state that came with it. */
  knock_room_state?: StrippedState[];
}

/** An event that came with another one; it says the room only where that one does. */
export interface BundledEvent extends ClientEventWithoutRoomID {
  /** The room of the event. */
  room_id?: RoomID;
}

/** Events that relate to an event, summed up by the server. */
export interface BundledAggregations {
  /** The newest edit of the event. */
  "m.replace"?: BundledEvent;
  /** The events that refer to it. */
  "m.reference"?: ReferenceAggregation;
  /** The thread that it is the root of. */
  "m.thread"?: ThreadAggregation;
}

/** Events that refer to an event with `m.reference`. */
export interface ReferenceAggregation {
  /** Those that refer to it. */
  chunk: RelatedEvent[];
}

/** An event of which only the ID is given. */
export interface RelatedEvent {
  /** Identifies it among the room's events. */
  event_id: EventID;
}

/** A thread, as its root shows it. */
export interface ThreadAggregation {
  /** The newest event of the thread. */
  latest_event: BundledEvent;
  /** How many events the thread has, its root not counted. */
  count: number;
  /** Whether the user who asked sent the root or any event of the thread. */
  current_user_participated: boolean;
}

/**
 * The parts of a sync response, as flags: an event of a joined room's timeline has
 * `SyncStream.JOINED_ROOM | SyncStream.TIMELINE`.
 *
 * @example Handle what was said while the bot was in the room
 * ```ts
 * import { SyncStream } from "@greenroom/matrix/types";
 *
 * const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
 * console.assert((source & SyncStream.TIMELINE) !== 0);
 * ```
 */
export const SyncStream = {
  /** Made by Greenroom, and not sent by the server. */
  INTERNAL: 1,
  /** Of a room the user is in. */
  JOINED_ROOM: 2,
  /** Of a room the user is invited to. */
  INVITED_ROOM: 4,
  /** Of a room the user left or was removed from. */
  LEFT_ROOM: 8,
  /** From the timeline: it happened, in this order. */
  TIMELINE: 16,
  /** From the state section: it holds, and happened at some time before. */
  STATE: 32,
  /** Not kept in the room: typing, receipts. */
  EPHEMERAL: 64,
  /** Private data of the user, global or of a room. */
  ACCOUNT_DATA: 128,
  /** Sent to this device alone. */
  TO_DEVICE: 256,
  /** Of a room the user knocked on. */
  KNOCKED_ROOM: 512,
  /** Whether another user is there. */
  PRESENCE: 1024,
  /**
   * From before the user came into the room, or from the time between two stays: only handlers with
   * `history: true` get it.
   */
  HISTORY: 2048,
  /**
   * Sent by a user of the own application service: only handlers with `own: true` get it.
   */
  OWN: 4096,
} as const;
/** One flag of {@linkcode SyncStream}, or several joined with `|`. */
export type SyncStream = number;

/** What every delivered event has. */
export interface BaseEvent<Type extends string = string, Content extends object = JsonObject>
  extends BasicEvent<Type, Content> {
  /** Which part of the sync response it came from: flags of `SyncStream`. */
  source: SyncStream;
}

/** An event of a room that is not state: a message, a reaction, a redaction. */
export interface MessageEvent<Type extends string = string, Content extends object = JsonObject>
  extends ClientEvent<Type, Content> {
  /** Which part of the sync response it came from: flags of `SyncStream`. */
  source: SyncStream;
  /** Never there: an event that has one is state. */
  state_key?: undefined;
}

/** An event that changed, or is part of, a room's state. */
export interface StateEvent<Type extends string = string, Content extends object = JsonObject>
  extends ClientStateEvent<Type, Content> {
  /** Which part of the sync response it came from: flags of `SyncStream`. */
  source: SyncStream;
}

/**
 * State of a room that the user is not in: invited to, or knocking on. Mostly without ID and time.
 */
export interface StrippedStateEvent<Type extends string = string, Content extends object = JsonObject>
  extends StrippedState<Type, Content> {
  /** Which part of the sync response it came from: flags of `SyncStream`. */
  source: SyncStream;
  /** The room of the event. */
  room_id: RoomID;
}

/** What passes in a room and is not kept: typing, receipts. */
export interface EphemeralEvent<Type extends string = string, Content extends object = JsonObject>
  extends BaseEvent<Type, Content> {
  /** The room of the event. */
  room_id: RoomID;
}

/** A presence update of a user: online, away or offline. */
export interface PresenceEvent extends BaseEvent<"m.presence", PresenceContent> {
  /** The user it is about. */
  sender: UserID;
}

/** Private data of the user. */
export interface AccountDataEvent<Type extends string = string, Content extends object = JsonObject>
  extends BaseEvent<Type, Content> {
  /** The room it belongs to; absent if it belongs to the account. */
  room_id?: RoomID;
}

/** A message to this device alone. */
export interface ToDeviceEvent<Type extends string = string, Content extends object = JsonObject>
  extends BaseEvent<Type, Content> {
  /** The user who sent it. */
  sender: UserID;
}

/** Any event that a handler of all types can get. */
export type MatrixEvent<Type extends string = string, Content extends object = JsonObject> =
  | MessageEvent<Type, Content>
  | StateEvent<Type, Content>
  | StrippedStateEvent<Type, Content>
  | EphemeralEvent<Type, Content>
  | AccountDataEvent<Type, Content>
  | ToDeviceEvent<Type, Content>;
