/**
 * Events as handlers get them: what the server sent, and where it came from. `encryptionOf()`
 * returns how an event was encrypted.
 *
 * @module
 */

import type { PresenceContent } from "../content/to_device_content.ts";
import type { RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { BasicEvent, ClientEvent, ClientStateEvent, StrippedState } from "./client_event.ts";

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
