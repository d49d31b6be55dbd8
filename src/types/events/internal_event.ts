/**
 * The data of the events that Greenroom makes itself.
 *
 * @module
 */

import type { DeviceAlarm } from "../api/device_keys.ts";
import type { MatrixEvent, MessageEvent, StateEvent, StrippedStateEvent, SyncStream } from "./event.ts";
import type { RoomID, SyncToken, UserID } from "../ids.ts";
import type { InternalEventType } from "./event_type.ts";
import type { MalformedContentError } from "../../errors/matrix_error.ts";
import type { RoomMemberContent } from "../content/room_state_content.ts";
import type { SyncResponse } from "./sync_response.ts";
import type { VerificationRequest } from "../verification.ts";

/** Why an event can't be read. */
export type UndecryptableCode =
  /** The key is not there; it may still come. */
  | "MISSING_KEY"
  /** The sender keeps the key from this device. */
  | "WITHHELD"
  /** The key that is there begins after the event. */
  | "KEY_TOO_NEW"
  /** The event was there before, under another ID or in another room. */
  | "REPLAYED"
  /** The event is not what an encrypted event must be, or the key does not fit. */
  | "MALFORMED"
  /** It is encrypted with something that is not known here. */
  | "UNSUPPORTED_ALGORITHM"
  /** The device that sent it is not trusted enough. */
  | "UNTRUSTED";

/**
 * A member event, whose state key is the user it is about; stripped if it is of a room that the own
 * user is not in.
 */
export type MemberEvent =
  | StateEvent<"m.room.member", RoomMemberContent>
  | StrippedStateEvent<"m.room.member", RoomMemberContent>;

/** Data of `SYNC_STARTED`. */
export interface SyncStarted {
  /** Always `SyncStream.INTERNAL`. */
  source: SyncStream;
}

/** Data of `SYNC_ERRORED`. */
export interface SyncErrored {
  /** Why the sync failed. */
  error: Error;
  /** How long the loop waits before it tries again, in milliseconds. */
  sleepFor: number;
  /** Always `SyncStream.INTERNAL`. */
  source: SyncStream;
}

/** Data of `SYNC_SUCCESSFUL`. */
export interface SyncSuccessful {
  /** The response, as the server sent it. */
  data: SyncResponse;
  /** Whether the request had no token, so that the response contains everything from the start. */
  isInitial: boolean;
  /** Whether it is the first response since the loop started. */
  isFirst: boolean;
  /** Always `SyncStream.INTERNAL`. */
  source: SyncStream;
}

/** Data of `SYNC_STOPPED`. */
export interface SyncStopped {
  /** Why the loop ended; absent if `stop()` ended it. */
  error?: Error;
  /** Always `SyncStream.INTERNAL`. */
  source: SyncStream;
}

/** Data of `DEVICE_LISTS`. */
export interface DeviceListsChanged {
  /** Users whose devices or identity keys changed, or who now share an encrypted room with us. */
  changed: UserID[];
  /** Users who share no encrypted room with us any more. */
  left: UserID[];
}

/** Data of `DEVICE_OTK_COUNT`. */
export interface DeviceOneTimeKeyCount {
  /** How many signed one-time keys the server has left. */
  signed_curve25519: number;
  /** How many unsigned one-time keys the server has left. */
  curve25519: number;
  /** Algorithms whose fallback key is unused; absent if the server has no fallback keys. */
  unusedFallbackTypes?: string[];
}

/**
 * Why a gap was not filled, or not to its end: `off`, it was not wanted (`fillGaps: false`);
 * `limit`, there was more than `fillGaps` allows; `refused`, the server did not give it, or nothing
 * that can be used.
 */
export type GapReason = "off" | "limit" | "refused";

/**
 * Data of `GAP`: events of a room that handlers do not get. They are read with
 * `client.iterateMessages(gap.room_id, "b", { fromToken: gap.from, toToken: gap.to })`, from new to
 * old.
 */
export interface Gap {
  /** The room whose timeline has the gap. */
  room_id: RoomID;
  /** The new end of the gap, where to read on backwards; absent if the server gave none. */
  from?: SyncToken;
  /** The old end, the token that the sync went on from; some servers read on past it. */
  to?: SyncToken;
  /** How many events in front of the timeline have been read and were delivered. */
  read: number;
  /** Why it was not filled to its end. */
  reason: GapReason;
  /** What the server said, if it refused. */
  error?: Error;
  /** `SyncStream.INTERNAL`, with `SyncStream.HISTORY` if nothing is missing but history. */
  source: SyncStream;
}

/** Data of `UNDECRYPTABLE`. */
export interface UndecryptableEvent {
  /** The event, as it was sent. */
  event: MessageEvent<"m.room.encrypted">;
  /** Why it could not be decrypted, in words. */
  reason: Error;
  /** The same for programs. */
  code: UndecryptableCode;
  /** Why the sender keeps the key, if it said so: a code of `m.room_key.withheld`. */
  withheld?: string;
  /**
   * `SyncStream.INTERNAL`, with `SyncStream.HISTORY` if the event is history; absent of an event
   * that did not come with a sync.
   */
  source?: SyncStream;
}

/** Data of `UNENCRYPTED`. */
export interface UnencryptedEvent {
  /** The event, which anyone on its way may have written. */
  event: MessageEvent;
  /** `SyncStream.INTERNAL`, with `SyncStream.HISTORY` if the event is history. */
  source?: SyncStream;
}

/**
 * Data of `STICKY`: what a member wants to be known for a time. With one that came in the timeline its own
 * type's handlers are called, and it has a member `msc4354_sticky`.
 *
 * @experimental It uses the unstable form of MSC4354: a minor version may change it.
 */
export interface StickyEvent {
  /** The event: decrypted, if it was encrypted. */
  event: MessageEvent | StateEvent;
  /**
   * How long it still holds, in milliseconds when the response was made; undefined: the server does not say.
   */
  left: number | undefined;
  /** Always `SyncStream.INTERNAL`. */
  source: SyncStream;
}

/** Data of `MALFORMED`. */
export interface MalformedEvent {
  /** The event, as it was sent. */
  event: MatrixEvent;
  /** What does not fit the type of the event. */
  reason: MalformedContentError;
  /**
   * Whether handlers of the type get it all the same, without the members at fault: if their types
   * let these be absent.
   */
  isDelivered: boolean;
}

/** Data of `DEVICE_ALARM`. */
export interface DeviceAlarmRaised {
  /** What is not as it should be. */
  alarm: DeviceAlarm;
}

/** Data of `EVENT_QUARANTINED`: an event that is left out for a time. */
export interface EventQuarantined {
  /**
   * Names it, for `client.quarantine`; the event's ID, if it has one and is not for an event of
   * Greenroom's own.
   */
  id: string;
  /**
   * Whose handlers it is for: the event's type, or that of an event of Greenroom's own, such as
   * `INVITE`.
   */
  type: string;
  /** What handlers are called with: decrypted, if it was encrypted. */
  event:
    | MatrixEvent
    | InternalEvents[Exclude<keyof InternalEvents, "VERIFICATION_REQUEST" | "HANDLER_ERROR">];
  /**
   * In how many lives of the process it was begun alone, after two that ended over all that came
   * with it.
   */
  attempts: number;
  /** When it was left out, in milliseconds since the epoch. */
  since: number;
  /**
   * When it is tried again, likewise, as the next sync ends; undefined: never, since there are too many,
   * or it is too large to be kept.
   */
  nextTry: number | undefined;
}

/** Data of `HANDLER_ERROR`. */
export interface HandlerError {
  /** What the handler threw. */
  error: unknown;
  /** What the handler was called with. */
  event: MatrixEvent | InternalEvents[keyof InternalEvents];
}

/**
 * What a handler of an internal event is called with, by the event's type. Applications may add
 * their own.
 */
export interface InternalEvents {
  /** The sync loop starts. */
  SYNC_STARTED: SyncStarted;
  /** A sync failed. */
  SYNC_ERRORED: SyncErrored;
  /** A sync response came in. */
  SYNC_SUCCESSFUL: SyncSuccessful;
  /** The sync loop ended. */
  SYNC_STOPPED: SyncStopped;
  /** A user joined. */
  JOIN: MemberEvent;
  /** A member changed name or avatar. */
  PROFILE_CHANGE: MemberEvent;
  /** The own user was invited. */
  INVITE: MemberEvent;
  /** Another user was invited to a room that the own user is in. */
  USER_INVITED: MemberEvent;
  /** A user declined the invitation. */
  REJECT_INVITE: MemberEvent;
  /** A user's invitation was withdrawn. */
  DISINVITE: MemberEvent;
  /** A member left. */
  LEAVE: MemberEvent;
  /** A member was removed. */
  KICK: MemberEvent;
  /** A user was banned. */
  BAN: MemberEvent;
  /** A user's ban was lifted. */
  UNBAN: MemberEvent;
  /** A user asked to be let in. */
  KNOCK: MemberEvent;
  /** Devices of other users changed. */
  DEVICE_LISTS: DeviceListsChanged;
  /** How many one-time keys are left. */
  DEVICE_OTK_COUNT: DeviceOneTimeKeyCount;
  /** Events were left out. */
  GAP: Gap;
  /** An event could not be decrypted. */
  UNDECRYPTABLE: UndecryptableEvent;
  /** A message came in clear into an encrypted room. */
  UNENCRYPTED: UnencryptedEvent;
  /** A sticky event holds that did not come in the timeline. */
  STICKY: StickyEvent;
  /** A content is not what its type says. */
  MALFORMED: MalformedEvent;
  /** Keys are not what they should be. */
  DEVICE_ALARM: DeviceAlarmRaised;
  /** Another asks for a verification. */
  VERIFICATION_REQUEST: VerificationRequest;
  /** An event is left out for a time. */
  EVENT_QUARANTINED: EventQuarantined;
  /** A handler threw. */
  HANDLER_ERROR: HandlerError;
}

/** Any of the data that a handler of an internal event can be called with. */
export type InternalEventData<Type extends InternalEventType = InternalEventType> = InternalEvents[Type];
