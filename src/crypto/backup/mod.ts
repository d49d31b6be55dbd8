/**
 * The backup of room keys on the server.
 *
 * @module
 */

export { BACKUP_SECRET, backupSecret, readBackupSecret } from "./backup_key.ts";
export type {
  AdoptInput,
  AdoptOutcome,
  BackupRequest,
  BackupState,
  NewBackup,
  NewBackupInput,
  RestoredKey,
  RestoredKeys,
} from "./backup_protocol.ts";
export { BackupRequests } from "./backup_requests.ts";
export { BackupRestore } from "./backup_restore.ts";
export { KeyBackup } from "./key_backup.ts";
export { RoomKeysReader } from "./room_keys_reader.ts";
