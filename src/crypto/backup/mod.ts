/**
 * The backup of room keys on the server.
 *
 * @module
 */

export {
  type AdoptInput,
  BACKUP_SECRET,
  type BackupRequest,
  backupSecret,
  type BackupState,
  type NewBackupInput,
  readBackupSecret,
  type RestoredKey,
  type RestoredKeys,
} from "./session_data.ts";
export { BackupRequests } from "./backup_requests.ts";
export { BackupRestore, RoomKeysReader } from "./backup_restore.ts";
export { KeyBackup } from "./key_backup.ts";
