/**
 * The name of a Megolm session.
 *
 * @module
 */

import { isReceivedRoomId } from "./identifiers.ts";
import type { RoomID } from "./ids.ts";
import { isKey } from "./base64.ts";

/** The name of a Megolm session: its room and its ID. */
export interface MegolmSessionRef {
  /** The room that it is used in. */
  readonly roomId: RoomID;
  readonly sessionId: string;
}

/** Reads the name of a session; undefined if no session can have it. */
export function readSessionRef(roomId: unknown, sessionId: unknown): MegolmSessionRef | undefined {
  return isReceivedRoomId(roomId) && isKey(sessionId) ? { roomId, sessionId } : undefined;
}
