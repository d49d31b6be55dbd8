/**
 * A session as an entry of a key file.
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import { type ExportedSession, type ImportedRoomKey, readSessionJson, sessionJson } from "../megolm/mod.ts";
import { parseObject } from "../../types/json.ts";

/** Says of an entry that the file vouches for its maker no more than a backup does. */
const FROM_BACKUP = "greenroom.from_backup";

/** Writes an entry. */
export function writeEntry(session: ExportedSession): string {
  const isWeak = session.source === "backup" || session.source === "bundle";
  return JSON.stringify({ ...sessionJson(session), ...(isWeak && { [FROM_BACKUP]: true }) });
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
  const { room_id, session_id, [FROM_BACKUP]: isWeak } = entry ?? {};
  if (typeof room_id !== "string" || typeof session_id !== "string") return undefined;
  // The import checks the room ID.
  return {
    roomId: room_id as RoomID,
    sessionId: session_id,
    ...said,
    source: isWeak === true ? "backup" : "export",
  };
}
