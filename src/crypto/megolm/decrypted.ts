/**
 * Decrypted events and messages: plain data, with their encryption beside it.
 *
 * @module
 */

import type { EncryptionInfo, SenderInfo, UndecryptableCode } from "../../types/events/encryption_info.ts";
import type { Encryptions } from "../../types/events/encryption_of.ts";
import type { MessageEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import type { VerificationEvent } from "../../types/events/verification_event.ts";
import type { DeviceAlarm } from "../../types/api/device_alarm.ts";

/** The clear event, with what is known of its encryption. */
export interface DecryptedEvent extends Encryptions {
  /** The event in plain text, with the envelope of the encrypted one. */
  readonly event: MessageEvent;
  /** How it was encrypted, and by which device. */
  readonly encryption: EncryptionInfo;
}

/** A message to this device that is left for handlers. */
export interface ToDeviceMessage {
  /** The message in plain text. */
  readonly event: ToDeviceEvent;
  /** Which device encrypted it, and how far that is to be trusted; absent if it came in clear. */
  readonly encryption?: SenderInfo;
}

/** The name of an event that waits for its key. */
export interface UndecryptableEventRef {
  readonly roomId: RoomID;
  readonly eventId: EventID;
}

/** What became of an encrypted event. */
export type Decryption =
  | DecryptedEvent
  | {
    /** Why it can't be decrypted, for now at least. */
    readonly code: UndecryptableCode;
    /** The same in words: which event, session and room, and what to do. */
    readonly reason: string;
    /** The code of the reason that the sender gave for withholding the key, if it did. */
    readonly withheld?: string;
  };

/** The same, within the client. */
export type JudgedEvent = Decryption & {
  /** Whether a better key of its session would have it heard, and is to be asked for. */
  readonly isKeyWanted?: true;
  /** What it says of a verification, if its device is not trusted enough for anything else. */
  readonly verifying?: VerificationEvent;
};

/** An event that waited for its key and can be decrypted now. */
export interface RecoveredEvent extends DecryptedEvent {
  /** The record that it waits under; it is kept until the event has been handled. */
  readonly ref: UndecryptableEventRef;
}

/** What follows from an answer of the server. */
export interface AnswerOutput {
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
  /** Keys that are not what they should be. */
  readonly alarms: readonly DeviceAlarm[];
}
