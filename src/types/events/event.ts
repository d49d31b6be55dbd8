/**
 * Events as handlers get them: what the server sent, and where it came from. `encryptionOf()`
 * returns how an event was encrypted.
 *
 * @module
 */

import type { BasicEvent, ClientEvent, ClientStateEvent, StrippedState } from "./client_event.ts";
import type { RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { PresenceContent } from "../content/ephemeral_content.ts";
import type { SyncStream } from "./sync_stream.ts";

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

/** Whether a user is there. */
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
