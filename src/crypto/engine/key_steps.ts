/**
 * The steps of the engine about keys of sessions on their way in and out: files and the backup.
 *
 * @module
 */

import type {
  AdoptInput,
  AdoptOutcome,
  BackupState,
  KeyBackup,
  NewBackup,
  NewBackupInput,
  RestoredKeys,
} from "../backup/mod.ts";
import type { ShownVersion } from "../../types/checks/backup_version.ts";
import type { MegolmSessionRef } from "../../types/session_ref.ts";
import type { ImportedRoomKey, SessionPage, SessionQuery } from "../megolm/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type { RunStep } from "./engine_parts.ts";
import { type KeysOutput, receiveKeys } from "../key_requests/mod.ts";

/** The steps, which do not overlap with other steps of the engine. */
export class KeySteps {
  readonly #run: RunStep;

  /** @param run Runs a step. */
  constructor(run: RunStep) {
    this.#run = run;
  }

  /** Exports a page of the sessions of others, and of the copies of the own. */
  async exportSessions(query: SessionQuery): Promise<SessionPage> {
    return await this.#run((tx, { inbound }) => inbound.exportPage(tx, query));
  }

  /** Imports keys: some hundreds, so that other steps need not wait long. */
  async importKeys(keys: readonly ImportedRoomKey[]): Promise<KeysOutput> {
    return await this.#run((tx, parts) => receiveKeys(tx, parts, keys));
  }

  /** The backup that is in use; undefined: none is. */
  async backupState(): Promise<BackupState | undefined> {
    return await this.#ofBackup((_, backup) => backup.state);
  }

  /** Makes the key of a new backup, the same until it is adopted or forgotten. */
  async newBackup(input: NewBackupInput): Promise<NewBackup> {
    return await this.#ofBackup((tx, backup) => backup.create(tx, input));
  }

  /** Uses a version of the backup from now on, if its private key is there. */
  async adoptBackup(input: AdoptInput): Promise<AdoptOutcome> {
    return await this.#ofBackup((tx, backup) => backup.adopt(tx, input));
  }

  /** Follows the server to the version that it shows now: {@link KeyBackup.follow}. */
  async followBackup(shown: ShownVersion | undefined): Promise<void> {
    await this.#ofBackup((tx, backup) => backup.follow(tx, shown));
  }

  /** Forgets the backup and its keys. */
  async forgetBackup(): Promise<void> {
    await this.#ofBackup((tx, backup) => backup.forget(tx));
  }

  /** The version of the backup to ask for a session; undefined: it is not to be asked for now. */
  async versionFor(session: MegolmSessionRef): Promise<string | undefined> {
    return await this.#run((_, { backupRestore }) => Promise.resolve(backupRestore.versionFor(session)));
  }

  /** Receives keys of the backup: some hundreds, so that other steps need not wait long. */
  async restoreKeys(restored: RestoredKeys): Promise<KeysOutput> {
    return await this.#run((tx, { backupRestore }) => backupRestore.receive(tx, restored));
  }

  async #ofBackup<Result>(
    work: (tx: Transaction, backup: KeyBackup) => Result | Promise<Result>,
  ): Promise<Result> {
    return await this.#run(async (tx, { backup }) => await work(tx, backup));
  }
}
