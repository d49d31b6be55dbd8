/**
 * Events of verifications, as they come. A device that is not trusted enough for anything else can be
 * heard by them.
 *
 * @module
 */

import type { DeviceID, EventID, RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** What the types of all verification events begin with. */
export const VERIFICATION_PREFIX = "m.key.verification.";

/** The message type of a request in a room. */
export const REQUEST_TYPE = "m.key.verification.request";

/** An event of a verification: plain data. */
export interface VerificationEvent {
  readonly type: string;
  /** Who has sent it, as the server says. */
  readonly sender: UserID;
  /** Which device has sent it, if it came encrypted and the device is known. */
  readonly senderDevice?: DeviceID;
  /** Its content, unchecked. */
  readonly content: JsonObject;
  /** Where it stands, if it came through a room. */
  readonly place?: {
    readonly roomId: RoomID;
    readonly eventId: EventID;
    /** When it was sent, as the server says, in milliseconds since the epoch. */
    readonly at: number;
  };
}

/** Whether an event belongs to a verification. */
export function isVerification(type: string, content: JsonObject): boolean {
  return type.startsWith(VERIFICATION_PREFIX) ||
    type === "m.room.message" && content.msgtype === REQUEST_TYPE;
}
