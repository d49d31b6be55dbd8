/**
 * `client.crypto.backup`: room keys of the user on the server, which only the backup's key opens.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-side-key-backups | Server-side key backups}
 * @module
 */

import type { RequestOptions } from "../../api/http/mod.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { KeyImportCounts, KeyImportReport } from "../key_files.ts";
import type { KeyBackupProblem } from "../../errors/encryption_error.ts";
import { defineEvent } from "../../types/events/define_event.ts";
import type { AllAPI } from "../../api/api.ts";
import { readPublicKey } from "../../types/identifiers.ts";
import { undefinedIfNotFound } from "../../errors/errcodes.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import type { KeyBackupVersion } from "../../types/api/device_keys.ts";

/** What other libraries call members of a backup, and what to write here. */
const KEY_BACKUP_HINTS = {
  status: "await client.crypto.backup.info()",
  enable: "client.crypto.backup.create({ storage }), or ensureVerified({ backup: true })",
  isEnabled: "(await client.crypto.backup.info()).problem === undefined",
  version: "(await client.crypto.backup.info()).version",
} as const;

/** @internal Names of other libraries, for the compiler. */
export interface KeyBackupHints extends Hints<typeof KEY_BACKUP_HINTS> {}

/** Refuses them with the names that there are here. */
export class HintedKeyBackup {}

export interface HintedKeyBackup extends KeyBackupHints {}

hintAt(HintedKeyBackup.prototype, "client.crypto.backup", KEY_BACKUP_HINTS);

/** What there is of a backup. */
export interface KeyBackupInfo {
  /** The latest version; undefined if there is none. */
  readonly version: string | undefined;
  /** How many keys are in it, as the server says. */
  readonly count: number;
  /**
   * Why it is not in use: `absent`, `unusable` or `untrusted`; undefined: it is, so that keys are put
   * into it.
   */
  readonly problem: KeyBackupProblem | undefined;
  /** Whether it is in use and its key is there, so that keys can be restored from it. */
  readonly isReadable: boolean;
  /** Whether it is in use, and has all keys that this device has. */
  readonly isComplete: boolean;
  /**
   * Whether the user wants a backup, as the last client that asked has noted in `m.key_backup`;
   * undefined if none has. No backup should be made for a user who does not want one.
   */
  readonly isWanted: boolean | undefined;
}

/** How a secret is stored. */
export interface StoreSecretOptions extends RequestOptions {
  /**
   * Whether what there is for other keys of the storage goes with the same request:
   * some clients read the first that is there, whichever the key. Default: false.
   */
  alone?: boolean;
}

/** Where secrets are kept: an open secret storage. */
export interface SecretKeeper {
  /** Reads a secret; undefined if there is none of the name. */
  get(name: string, options?: RequestOptions): Promise<string | undefined>;
  /** Stores a secret. */
  set(name: string, value: string, options?: StoreSecretOptions): Promise<void>;
  /** Deletes a secret. */
  delete(name: string, options?: RequestOptions): Promise<void>;
}

/** What opens a backup. */
export type KeyBackupUnlock =
  | {
    /** The open secret storage that has the backup's key, as `m.megolm_backup.v1`. */
    storage: Pick<SecretKeeper, "get">;
    recoveryKey?: undefined;
  }
  | {
    /** The backup's own recovery key, which is another one than that of the secret storage. */
    recoveryKey: string;
    storage?: undefined;
  };

/** Where the key of a new backup goes: one of them, or both. */
export interface NewKeyBackupOptions extends RequestOptions {
  /**
   * The open secret storage that keeps the key, so that the user's other clients find it. Default:
   * none.
   */
  storage?: Pick<SecretKeeper, "set">;
  /**
   * Is given the backup's own recovery key, and awaited, before the backup is made. If this throws,
   * none is. A call that repeats one that was cut off hands out the same key. It must not wait for a call
   * that makes or chooses a backup, such as `ensureVerified()`: that waits for this one. Default: the key
   * goes to the secret storage only.
   */
  onRecoveryKey?: (recoveryKey: string) => void | Promise<void>;
}

/** The progress of {@linkcode KeyBackup.restore}. */
export interface KeyRestoreProgress extends KeyImportCounts {
  /** How many keys have been read so far. */
  readonly done: number;
  /** How many keys there are, as the server says. */
  readonly total: number;
}

/** Options of {@linkcode KeyBackup.restore}. */
export interface RestoreKeysOptions extends RequestOptions {
  /** Called after some hundred keys each. Default: none. */
  onProgress?: (progress: KeyRestoreProgress) => void;
  /**
   * How many keys the backup may have, so that a server can't fill the store:
   * it can put in as many as it likes. Default: 50,000, some 50 MB.
   */
  limit?: number;
}

/** Options of {@linkcode KeyBackup.delete}. */
export interface DeleteKeyBackupOptions extends RequestOptions {
  /** The open secret storage, from which the backup's key is deleted too. Default: none. */
  storage?: Pick<SecretKeeper, "delete">;
}

/**
 * The backup of room keys: what a client could read once, the user's other clients can read too,
 * and the same one after its disk was lost.
 *
 * A backup is in use once {@linkcode KeyBackup.create} or {@linkcode KeyBackup.trust} has shown that
 * it is the user's. From then on, and in all later processes, each new room key is put into it; so
 * are all that were there before. The device follows the user to a new version of it if that has the
 * same key, or the own identity, once accepted, has signed it. A version that anybody else may have
 * made gets no key, and a warning says so.
 *
 * What can't be read is read with the key from the backup, if that has it: an event of a sync is
 * delivered then, and `client.crypto.decrypt()` waits for it. A session that is not there is not
 * asked for again before ten minutes, and then later and later, up to a day. The backup can't prove
 * whose keys are in it: its events are of an `unknown-device`, with the `keySource` `backup`, until
 * the device itself sends the key.
 *
 * @example
 * ```ts
 * import { Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * const { accessToken } = homeserver.createUser("bot");
 * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
 * const { recoveryKey } = await bot.secretStorage.create({ onRecoveryKey: (key) => sessionStorage.setItem("key", key) });
 * using storage = await bot.secretStorage.open({ recoveryKey });
 * const info = await bot.crypto?.backup.info();
 * if (info?.problem === "absent" && info.isWanted !== false) await bot.crypto?.backup.create({ storage });
 * else await bot.crypto?.backup.trust({ storage });
 * ```
 */
export interface KeyBackup extends KeyBackupHints {
  /**
   * Looks what there is.
   *
   * @param options Request options.
   * @returns What the server has, and what of it is in use.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isBackedUp(client: Client): Promise<boolean> {
   *   const info = await client.crypto?.backup.info();
   *   return info?.isComplete ?? false;
   * }
   * ```
   */
  info(options?: RequestOptions): Promise<KeyBackupInfo>;

  /**
   * Makes a backup and uses it from now on. Notes in `m.key_backup` that the user wants one. If the
   * call is cut off, call it again: it goes on with the same key. If the backup is in use already,
   * its key goes where the options say, and nothing else changes.
   *
   * @param options Where its key goes, and request options.
   * @returns What there is now.
   * @throws {KeyBackupError} `exists`: there is one that is not in use:
   *   `trust()` that, or `reset()` it if its key is lost. `changed`: another client was faster.
   * @throws {ValueError} If its key would go nowhere.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function begin(client: Client, storage: OpenSecretStorage): Promise<void> {
   *   await client.crypto?.backup.create({ storage });
   * }
   * ```
   */
  create(options: NewKeyBackupOptions): Promise<KeyBackupInfo>;

  /**
   * Makes a new version of the backup, whatever there is, and uses it from now on. For a backup
   * whose key is lost or known to others: what is in it stays on the server until it is deleted, but
   * all clients use the new one. If it fails, call it again: what it has begun is finished then, or by the
   * next start with the recovery key.
   *
   * @param options Where its key goes, and request options.
   * @returns What there is now.
   * @throws {KeyBackupError} `changed`: another client was faster.
   * @throws {ValueError} If its key would go nowhere.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function beginAnew(client: Client, storage: OpenSecretStorage): Promise<void> {
   *   await client.crypto?.backup.reset({ storage }); // the key of the old one is lost
   * }
   * ```
   */
  reset(options: NewKeyBackupOptions): Promise<KeyBackupInfo>;

  /**
   * Uses the backup that there is from now on, if its key is the one that is given: a server can
   * show a backup that it has made.
   *
   * @param by The secret storage that has its key, or its own recovery key.
   * @param options Request options.
   * @returns What there is now.
   * @throws {KeyBackupError} If it is not used: `absent`, `unusable`, `wrong-key`, `no-secret`;
   *   `untrusted`: it was left for another, or deleted, and comes back with the secret storage:
   *   its own recovery key takes it back.
   * @throws {SecretStorageError} If the recovery key has a typing error, or the secret can't be read.
   * @throws {ValueError} If neither is given, or both.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function use(client: Client, recoveryKey: string): Promise<void> {
   *   await client.crypto?.backup.trust({ recoveryKey });
   * }
   * ```
   */
  trust(by: KeyBackupUnlock, options?: RequestOptions): Promise<KeyBackupInfo>;

  /**
   * Restores all keys of the backup that is in use. It is not needed to read events, for which it is
   * asked by itself, but to read them offline, and to export keys. What was here before is put into
   * the backup first.
   *
   * Memory is bounded, however many there are. Keys are restored in steps; those before a crash or an
   * abort stay, and to restore them again is free.
   *
   * @param options Who is told of the progress, and request options.
   * @returns What has become of the keys.
   * @throws {KeyBackupError} `untrusted`: none is in use, or its key is not there: `trust()` it.
   *   `changed`: another version was taken into use meanwhile.
   * @throws {ServiceResponseError} If the answer breaks off, or has more keys than `limit`: what had come by
   *   then is restored.
   * @throws {ValueError} If `limit` is no whole number, or less than 1.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function restore(client: Client): Promise<void> {
   *   await client.crypto?.backup.restore({
   *     onProgress: ({ added, total }) => console.log(`${added} new keys, of ${total} in the backup`),
   *   });
   * }
   * ```
   */
  restore(options?: RestoreKeysOptions): Promise<KeyImportReport>;

  /**
   * Deletes the backup: all its versions, with all keys in them. Notes in `m.key_backup` that the
   * user wants none. Does nothing else if there is none.
   *
   * @param options Where its key is deleted too, and request options.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { OpenSecretStorage } from "@greenroom/matrix/types";
   *
   * export async function end(client: Client, storage: OpenSecretStorage): Promise<void> {
   *   await client.crypto?.backup.delete({ storage });
   * }
   * ```
   */
  delete(options?: DeleteKeyBackupOptions): Promise<void>;
}

/**
 * What has become of the backup of an account whose identity is at hand:
 *
 * - `on`: it is in use, and its key is there;
 * - `unwanted`: the user wants none, as a client has noted; nothing was changed;
 * - `failed`: the server does not have backups, or something else went wrong, as the log says;
 * - else why the one that is there is not used. Nothing was changed.
 */
export type KeyBackupOutcome = "on" | "unwanted" | "failed" | KeyBackupProblem;

/** The backup as encryption uses it. */
export interface KeyBackupMachine extends KeyBackup {
  /**
   * Has the backup used that the server has now, or one made if there is none. Never rejects, and replaces
   * nothing.
   *
   * @param open Opens the secret storage; undefined: nothing does.
   * @param options.isNew Whether the storage is another one than before, which has to get the key.
   * @returns What has become of it; undefined: it is not in use, and nothing opens the storage.
   */
  ensure(
    open: () => Promise<SecretKeeper | undefined>,
    options?: { readonly isNew?: boolean },
  ): Promise<KeyBackupOutcome | undefined>;
  /**
   * Asks the backup for the key of an event that can't be read. Never rejects.
   *
   * @returns Whether a key has come.
   */
  restoreFor(event: MessageEvent): Promise<boolean>;
}

/** What the user wants, as clients note it; of any shape. */
export const WANTED = defineEvent({ type: "m.key_backup", class: "account_data" });
/** The same as clients noted it before that was in the specification: counts where nothing else is noted. */
export const FORMERLY_WANTED = defineEvent({
  type: "m.org.matrix.custom.backup_disabled",
  class: "account_data",
});

/** The operations that the backup is made with. */
export type KeyBackupAPI = Pick<
  AllAPI,
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
  return await api.getKeyBackupVersion(request).catch(undefinedIfNotFound);
}

/** The public key of a version; undefined if there is none, or it can't be used. */
export function publicKeyOf(version: KeyBackupVersion | undefined): string | undefined {
  return version && readPublicKey(version);
}
