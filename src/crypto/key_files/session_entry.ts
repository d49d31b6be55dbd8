/**
 * A session as an entry of a key file.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import type { ExportedSession, ImportedRoomKey } from "../megolm/room_key.ts";
import { parseObject, readSessionJson, sessionJson } from "../megolm/session_json.ts";

/** Writes an entry. */
export function writeEntry(session: ExportedSession): string {
  return JSON.stringify(sessionJson(session));
}

/**
 * Reads an entry, whose key is checked where it is imported.
 *
 * @returns The key; undefined if it is no entry, or one of another algorithm.
 */
export function readEntry(bytes: Uint8Array): ImportedRoomKey | undefined {
  const entry = parseObject(bytes);
  const said = entry && readSessionJson(entry);
  if (said === undefined) return undefined;
  const { room_id, session_id } = entry ?? {};
  if (typeof room_id !== "string" || typeof session_id !== "string") return undefined;
  // The import checks the room ID.
  return { roomId: room_id as RoomID, sessionId: session_id, ...said, source: "export" };
}
