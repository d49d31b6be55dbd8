/**
 * The backup of room keys, as encryption and applications use it.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { EngineRunner } from "../../actors/crypto/crypto.ts";
import type { RequestOptions } from "../../api/http/mod.ts";
import { Turns } from "../../base/runs.ts";
import type { BackupState } from "../../crypto/backup/backup.ts";
import { readSessionRef } from "../../types/identifiers.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { KeyImportReport } from "../key_files.ts";
import {
  type DeleteKeyBackupOptions,
  HintedKeyBackup,
  type KeyBackup,
  type KeyBackupAPI,
  type KeyBackupInfo,
  type KeyBackupMachine,
  type KeyBackupOutcome,
  type KeyBackupUnlock,
  latestVersion,
  type NewKeyBackupOptions,
  publicKeyOf,
  type RestoreKeysOptions,
  type SecretKeeper,
} from "./key_backup.ts";

export {
  type DeleteKeyBackupOptions,
  FORMERLY_WANTED,
  type KeyBackup,
  type KeyBackupInfo,
  type KeyBackupMachine,
  type KeyBackupOutcome,
  type KeyBackupUnlock,
  type KeyRestoreProgress,
  latestVersion,
  type NewKeyBackupOptions,
  type RestoreKeysOptions,
  type SecretKeeper,
  type StoreSecretOptions,
  WANTED,
} from "./key_backup.ts";

/**
 * `client.crypto.backup`. What it does is loaded with the first call.
 * What changes it comes one after the other.
 */
export class KeyBackups extends HintedKeyBackup implements KeyBackupMachine {
  readonly #engine: EngineRunner;
  readonly #api: KeyBackupAPI;
  readonly #turns = new Turns();

  /**
   * @param engine The engine.
   * @param api The operations of the server.
   */
  constructor(engine: EngineRunner, api: KeyBackupAPI) {
    super();
    [this.#engine, this.#api] = [engine, api];
  }

  async info(options?: RequestOptions): Promise<KeyBackupInfo> {
    return await (await this.#operations()).info(options);
  }

  async create(options: NewKeyBackupOptions): Promise<KeyBackupInfo> {
    return await this.#inTurn(async () => await (await this.#operations()).create(options), options);
  }

  async reset(options: NewKeyBackupOptions): Promise<KeyBackupInfo> {
    return await this.#inTurn(async () => await (await this.#operations()).reset(options), options);
  }

  async trust(by: KeyBackupUnlock, options?: RequestOptions): Promise<KeyBackupInfo> {
    return await this.#inTurn(async () => await (await this.#operations()).trust(by, options), options);
  }

  async restore(options?: RestoreKeysOptions): Promise<KeyImportReport> {
    return await (await this.#operations()).restore(options);
  }

  async delete(options?: DeleteKeyBackupOptions): Promise<void> {
    await (await this.#operations()).delete(options);
  }

  async ensure(
    open: () => Promise<SecretKeeper | undefined>,
    { isNew = false }: { readonly isNew?: boolean } = {},
  ): Promise<KeyBackupOutcome | undefined> {
    return await this.#inTurn(async () => {
      const used = await this.#inUse();
      try {
        if (!isNew && used !== undefined && await this.#isThere(used)) return "on";
      } catch (error) {
        this.#engine.log.warn("Could not find out whether room keys are backed up", { error: String(error) });
        return "failed";
      }
      const { ensureBackup } = await import("./ensure_backup.ts");
      return await ensureBackup(this.#engine, this.#api, { open, isOn: isNew && used !== undefined });
    });
  }

  async restoreFor({ room_id, content }: MessageEvent): Promise<boolean> {
    const session = readSessionRef(room_id, content.session_id);
    if (session === undefined) return false;
    const version = await this.#engine.actor.versionFor(session);
    if (version === undefined) return false;
    const { restoreSession } = await import("./key_backup_operations.ts");
    return await restoreSession(this.#engine, this.#api, version, session).catch((error) => {
      this.#engine.log.warn("Could not ask the backup for a room key", { ...session, error: String(error) });
      return false;
    });
  }

  async #operations(): Promise<KeyBackup> {
    const { KeyBackupOperations } = await import("./key_backup_operations.ts");
    return new KeyBackupOperations(this.#engine, this.#api);
  }

  async #inTurn<Result>(
    work: () => Promise<Result>,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Result> {
    const done = this.#turns.take(work);
    return await (signal === undefined ? done : abortable(done, signal)); // what is aborted makes no request
  }

  async #inUse(): Promise<BackupState | undefined> {
    const state = await this.#engine.actor.backupState();
    return state?.phase === "on" && state.isReadable && state.pending === undefined ? state : undefined;
  }

  /** Returns whether the server still has the backup in use, or one with the same key. */
  async #isThere({ version, publicKey }: BackupState): Promise<boolean> {
    const shown = await latestVersion(this.#api, {});
    if (shown?.version === version && publicKeyOf(shown) === publicKey) return true;
    await this.#engine.actor.followBackup(shown);
    this.#engine.requests.wake();
    return await this.#inUse() !== undefined;
  }
}
