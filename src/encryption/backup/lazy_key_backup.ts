/**
 * The backup of room keys, loaded when it is used.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { KeyBackupMachine } from "./key_backup.ts";
import { Turns } from "../../base/turns.ts";
import type { BackupState } from "../../crypto/backup/backup_protocol.ts";
import { readSessionRef } from "../../crypto/megolm/session_ref.ts";
import type { EnsureBackupParts } from "./ensure_backup.ts";
import { type KeyBackupParts, latestVersion, publicKeyOf } from "./key_backup_parts.ts";

/**
 * Makes `client.crypto.backup`. What it is made of is loaded with the first call.
 *
 * Calls that choose a backup go one after the other: of two that make one at the same time, the first may be
 * the last to use its own, which is the older one. All count the newer one as left for it then.
 */
export function lazyKeyBackup(
  parts: KeyBackupParts,
  { clock, log, http }: Pick<EnsureBackupParts, "clock" | "log" | "http">,
): KeyBackupMachine {
  const loaded = async () => (await import("./key_backup_operations.ts")).keyBackupOperations(parts);
  const turns = new Turns();
  const inTurn = async <Result>(
    work: () => Promise<Result>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Result> => {
    const done = turns.take(work);
    return await (signal === undefined ? done : abortable(done, signal)); // what is aborted makes no request
  };
  const inUse = async (): Promise<BackupState | undefined> => {
    const state = await parts.actor.backupState();
    return state?.phase === "on" && state.isReadable && state.pending === undefined ? state : undefined;
  };
  /** Whether the server still has the backup in use, or one with the same key. */
  const isThere = async ({ version, publicKey }: BackupState): Promise<boolean> => {
    const shown = await latestVersion(parts.api, {});
    if (shown?.version === version && publicKeyOf(shown) === publicKey) return true;
    await parts.actor.followBackup(shown);
    parts.wake();
    return await inUse() !== undefined;
  };
  return {
    info: async (options) => await (await loaded()).info(options),
    create: async (options) => await inTurn(async () => await (await loaded()).create(options), options),
    reset: async (options) => await inTurn(async () => await (await loaded()).reset(options), options),
    trust: async (by, options) =>
      await inTurn(async () => await (await loaded()).trust(by, options), options),
    restore: async (options) => await (await loaded()).restore(options),
    delete: async (options) => await (await loaded()).delete(options),
    async ensure(open, { isNew = false } = {}) {
      return await inTurn(async () => {
        const used = await inUse();
        try {
          if (!isNew && used !== undefined && await isThere(used)) return "on";
        } catch (error) {
          log.warn("Could not look whether room keys are backed up", { error: String(error) });
          return "failed";
        }
        const { ensureBackup } = await import("./ensure_backup.ts");
        return await ensureBackup({ ...parts, clock, log, http }, {
          open,
          isOn: isNew && used !== undefined,
        });
      });
    },
    async restoreFor({ room_id, content }) {
      const session = readSessionRef(room_id, content.session_id);
      if (session === undefined) return false;
      const version = await parts.actor.versionFor(session);
      if (version === undefined) return false;
      const { restoreSession } = await import("./key_restore.ts");
      return await restoreSession(parts, version, session).catch((error) => {
        log.warn("Could not ask the backup for a room key", { ...session, error: String(error) });
        return false;
      });
    },
  };
}
