/**
 * Decrypted events and messages: plain data, with their encryption beside it.
 *
 * @module
 */

import type { EncryptionInfo, SenderInfo } from "../../types/events/encryption_info.ts";
import type { Encryptions } from "../../types/events/encryption_of.ts";
import type { MessageEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { EventID, RoomID } from "../../types/ids.ts";

/** An event that was decrypted. */
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
  /** The room. */
  readonly roomId: RoomID;
  /** The event. */
  readonly eventId: EventID;
}
