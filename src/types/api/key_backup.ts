/**
 * Backups of room keys on the server.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#server-side-key-backups | Server-side key backups}
 * @module
 */

import type { RoomID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** What makes a version of a backup. */
export interface KeyBackupDefinition {
  /** How its keys are encrypted, such as `m.megolm_backup.v1.curve25519-aes-sha2`. */
  algorithm: string;
  /** What the algorithm needs, such as the public key. */
  auth_data: JsonObject;
}

/** A version of a backup, as the server has it. */
export interface KeyBackupVersion extends KeyBackupDefinition {
  /** Its name. */
  version: string;
  /** How many keys it holds. */
  count: number;
  /** Changes whenever a key in it does. */
  etag: string;
}

/** A room key in a backup. */
export interface KeyBackupData {
  /** The first index that it decrypts. */
  first_message_index: number;
  /** How often it was passed on before it was backed up. */
  forwarded_count: number;
  /** Whether the device that backed it up has verified the device that it came from. */
  is_verified: boolean;
  /** The key, encrypted as the algorithm says. */
  session_data: JsonObject;
}

/** Room keys by the ID of their session. */
export interface RoomKeyBackup {
  /** The keys. */
  sessions: { [sessionId: string]: KeyBackupData };
}

/** Room keys of all rooms. */
export interface KeyBackupRooms {
  /** The keys, by room. */
  rooms: { [roomId: RoomID]: RoomKeyBackup };
}

/** What a backup is after its keys have changed. */
export type KeyBackupChange = Partial<Pick<KeyBackupVersion, "count" | "etag">>;
