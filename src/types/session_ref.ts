/**
 * The name of a Megolm session.
 *
 * @module
 */

import { isReceivedRoomId } from "./identifiers.ts";
import type { RoomID } from "./ids.ts";
import { isKey } from "./base64.ts";

/** The name of a Megolm session, and of the room key that belongs to it. */
export interface MegolmSessionRef {
  /** The room that it is used in. */
  readonly roomId: RoomID;
  /** Identifies it in the room. */
  readonly sessionId: string;
}

/** Reads the name of a session; undefined if no session can have it. */
export function readSessionRef(roomId: unknown, sessionId: unknown): MegolmSessionRef | undefined {
  return isReceivedRoomId(roomId) && isKey(sessionId) ? { roomId, sessionId } : undefined;
}
