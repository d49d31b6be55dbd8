/**
 * The version of the backup of room keys that the server has.
 *
 * @module
 */

import { defineEvent } from "../../types/events/define_event.ts";
import type { ClientAPI } from "../../api/api.ts";
import type { RequestOptions } from "../../api/http/mod.ts";
import { readPublicKey } from "../../types/checks/backup_version.ts";
import { NotFoundError } from "../../errors/request_errcodes.ts";
import type { KeyBackupVersion } from "../../types/api/key_backup.ts";

/** What the user wants, as clients note it; of any shape. */
export const WANTED = defineEvent({ type: "m.key_backup", class: "account_data" });
/** The same as clients noted it before that was in the specification: counts where nothing else is noted. */
export const FORMERLY_WANTED = defineEvent({
  type: "m.org.matrix.custom.backup_disabled",
  class: "account_data",
});

/** The operations that the backup is made with. */
export type KeyBackupAPI = Pick<
  ClientAPI,
  | "getKeyBackupVersion"
  | "createKeyBackupVersion"
  | "deleteKeyBackupVersion"
  | "getRoomKey"
  | "downloadRoomKeys"
  | "getAccountData"
  | "setAccountData"
>;

/** The latest version on the server; undefined if there is none. */
export async function latestVersion(
  api: Pick<KeyBackupAPI, "getKeyBackupVersion">,
  request: RequestOptions,
): Promise<KeyBackupVersion | undefined> {
  try {
    return await api.getKeyBackupVersion(request);
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/** The public key of a version; undefined if there is none, or it can't be used. */
export function publicKeyOf(version: KeyBackupVersion | undefined): string | undefined {
  return version && readPublicKey(version);
}
