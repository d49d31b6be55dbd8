/**
 * Events as the in-process homeserver keeps them.
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import type { Device } from "../users/device.ts";

/** What someone wants to send, before it has passed the rules of the room. */
export interface EventDraft {
  /** Its ID, if that had to be known before. */
  readonly id?: EventID;
  /** The event type. */
  readonly type: string;
  /** Who sends it. */
  readonly sender: UserID;
  /** The state key; `undefined` for what is not state. */
  readonly stateKey?: string;
  /** The content. */
  readonly content: JsonObject;
  /** The event that a redaction redacts. */
  readonly redacts?: EventID;
  /** Overrides the clock. */
  readonly timestamp?: number;
  /** The device and the transaction ID that it was sent with. */
  readonly transaction?: { readonly device: Device; readonly id: string };
}

/** An event of a room. */
export interface RoomEvent extends EventDraft {
  /** Its ID. */
  readonly id: EventID;
  /** The room. */
  readonly roomId: RoomID;
  /** The content; what a redaction leaves of it once there is one. */
  content: JsonObject;
  /** The content before the redaction: what the room is still described by. */
  contentBefore?: JsonObject;
  /** When it was sent, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Where it lies in the stream. */
  readonly position: number;
  /** Its index among the events of the room. */
  readonly index: number;
  /** The state event that it replaced. */
  readonly replaces?: RoomEvent;
  /** The redaction that removed its content. */
  redaction?: RoomEvent;
}

/** The membership that a member event gives. */
export function membershipOf(event: RoomEvent | undefined): string {
  const membership = event?.content.membership;
  return typeof membership === "string" ? membership : "leave";
}
