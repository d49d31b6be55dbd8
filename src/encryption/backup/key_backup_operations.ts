/**
 * The operations of `client.crypto.backup`.
 *
 * Restores room keys from the backup: all of them, or that of an event that can't be read.
 *
 * Over 300 lines because the longest of the operations, to restore, has its steps here.
 *
 * @module
 */

import type { CryptoHandlers, EngineRunner } from "../../actors/crypto/crypto.ts";
import type { ActorRef } from "../../actors/kernel/mod.ts";
import { optionsOfEach, type RequestOptions } from "../../api/http/mod.ts";
import { BACKUP_SECRET, backupSecret, type RestoredKey, RoomKeysReader } from "../../crypto/backup/backup.ts";
import { decodeRecoveryKey, encodeRecoveryKey, readKeySecret } from "../../crypto/secrets/secrets.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { undefinedIfNotFound } from "../../errors/errcodes.ts";
import { KeyBackupError, type KeyBackupProblem } from "../../errors/encryption_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import type { KeyBackupVersion } from "../../types/api/device_keys.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import type { JsonObject } from "../../types/json.ts";
import type { KeyImportReport } from "../key_files.ts";
import {
  type DeleteKeyBackupOptions,
  FORMERLY_WANTED,
  HintedKeyBackup,
  type KeyBackup,
  type KeyBackupAPI,
  type KeyBackupInfo,
  type KeyBackupUnlock,
  latestVersion,
  type NewKeyBackupOptions,
  publicKeyOf,
  type RestoreKeysOptions,
  WANTED,
} from "./key_backup.ts";

/** More versions than a user makes are not deleted at once. */
const MAX_VERSIONS = 1_000;

export class KeyBackupOperations extends HintedKeyBackup implements KeyBackup {
  readonly #engine: EngineRunner;
  readonly #api: KeyBackupAPI;

  /**
   * @param engine The engine.
   * @param api The operations of the server.
   */
  constructor(engine: EngineRunner, api: KeyBackupAPI) {
    super();
    [this.#engine, this.#api] = [engine, api];
  }

  async info(options: RequestOptions = {}): Promise<KeyBackupInfo> {
    const request = optionsOfEach(options, {}, "look at the backup");
    await this.#engine.open();
    return await this.#infoOf(await latestVersion(this.#api, request), request);
  }

  async create(options: NewKeyBackupOptions): Promise<KeyBackupInfo> {
    return await this.#made(options, "only the first");
  }

  async reset(options: NewKeyBackupOptions): Promise<KeyBackupInfo> {
    return await this.#made(options, "a new one");
  }

  async restore(options: RestoreKeysOptions = {}): Promise<KeyImportReport> {
    return await restored(this.#engine, this.#api, options);
  }

  async trust(by: KeyBackupUnlock, options: RequestOptions = {}): Promise<KeyBackupInfo> {
    const request = optionsOfEach(options, {}, "trust the backup");
    const engine = this.#engine;
    const { actor } = engine;
    const secret = await secretOf(by, request);
    await engine.open();
    const shown = await latestVersion(this.#api, request);
    if (shown === undefined) {
      throw new KeyBackupError("Cannot trust the backup: there is none; make one with backup.create()", {
        problem: "absent",
      });
    }
    const isChosen = by.recoveryKey !== undefined;
    switch (await actor.adoptBackup({ shown, secret, isChosen })) {
      case "adopted":
        engine.requests.wake();
        return await this.#infoOf(shown, request);
      case "left":
        throw leftBackup();
      case "unusable":
        throw new KeyBackupError(
          `Cannot trust the backup: its version ${
            JSON.stringify(shown.version)
          } is of an algorithm that is not known, ` +
            "or has no public key; reset() it",
          { problem: "unusable" },
        );
      case "mismatch":
        throw new KeyBackupError(
          `Cannot trust the backup: the key is not that of its version ${
            JSON.stringify(shown.version)
          }, which another ` +
            "client, or the server, has made since; get its key from the client that made it, or reset() it",
          { problem: "wrong-key" },
        );
    }
  }

  async delete({ storage, ...options }: DeleteKeyBackupOptions = {}): Promise<void> {
    const request = optionsOfEach(options, {}, "delete the backup");
    const engine = this.#engine;
    const api = this.#api;
    await engine.open();
    await api.setAccountData(WANTED, { enabled: false }, request); // before others make a new one
    await engine.actor.forgetBackup();
    for (let count = 0; count < MAX_VERSIONS; count++) {
      const latest = await latestVersion(api, request);
      if (latest === undefined) break;
      await api.deleteKeyBackupVersion(latest.version, request);
    }
    await storage?.delete(BACKUP_SECRET, request);
  }

  async #made(
    { storage, onRecoveryKey, ...options }: NewKeyBackupOptions,
    wanted: "only the first" | "a new one",
  ): Promise<KeyBackupInfo> {
    if (storage === undefined && onRecoveryKey === undefined) {
      throw new ValueError(
        "Cannot make a backup: its key would go nowhere; give the open secret storage, or onRecoveryKey",
      );
    }
    const engine = this.#engine;
    const { actor } = engine;
    const api = this.#api;
    const request = optionsOfEach(options, {}, "make a backup");
    await engine.open();
    const before = await latestVersion(api, request);
    const isNew = wanted === "a new one";
    const { definition, publicKey, secret, isThere } = await actor.newBackup({
      latest: publicKeyOf(before),
      isNew,
    });
    if (before !== undefined && !isThere && !isNew) {
      throw new KeyBackupError(
        "Cannot make a backup: there is one already; trust() it with its key, or reset() it if that is lost",
        { problem: "exists" },
      );
    }
    await onRecoveryKey?.(recoveryKeyOf(secret));
    if (!isThere) await api.createKeyBackupVersion(definition, request);
    const shown = await latestVersion(api, request);
    if (shown === undefined || publicKeyOf(shown) !== publicKey) {
      throw new KeyBackupError(
        "Cannot make a backup: another client has made or deleted one meanwhile; look at info(), and trust() or reset() it",
        { problem: "changed" },
      );
    }
    await storage?.set(BACKUP_SECRET, secret, request); // before anything is in it that only this key opens
    await actor.adoptBackup({ shown, secret });
    await api.setAccountData(WANTED, { enabled: true }, request);
    engine.requests.wake();
    return await this.#infoOf(shown, request);
  }

  async #infoOf(latest: KeyBackupVersion | undefined, request: RequestOptions): Promise<KeyBackupInfo> {
    const [state, isWanted] = await Promise.all([
      this.#engine.actor.backupState(),
      isWantedBy(this.#api, request),
    ]);
    const isUsed = latest !== undefined && state?.version === latest.version && state.phase === "on" &&
      state.publicKey === publicKeyOf(latest);
    return {
      version: latest?.version,
      count: latest?.count ?? 0,
      problem: isUsed ? undefined : problemOf(latest),
      isReadable: isUsed && state.isReadable,
      isComplete: isUsed && state.isComplete,
      isWanted,
    };
  }
}

function problemOf(latest: KeyBackupVersion | undefined): KeyBackupProblem {
  if (latest === undefined) return "absent";
  return publicKeyOf(latest) === undefined ? "unusable" : "untrusted";
}

/** Returns whether the user wants a backup; undefined: no client has noted that. */
export async function isWantedBy(
  api: KeyBackupAPI,
  request: RequestOptions,
): Promise<boolean | undefined> {
  const read = async (type: typeof WANTED | typeof FORMERLY_WANTED): Promise<JsonObject> => {
    return { ...await api.getAccountData(type, request).catch(undefinedIfNotFound) };
  };
  const [{ enabled }, { disabled }] = await Promise.all([read(WANTED), read(FORMERLY_WANTED)]);
  if (typeof enabled === "boolean") return enabled;
  return typeof disabled === "boolean" ? !disabled : undefined;
}

/** The server shows a backup that was in use before, with its key in the secret storage. */
export function leftBackup(): KeyBackupError {
  return new KeyBackupError(
    "Cannot use the backup of room keys: it was left for another, or deleted, and the server, or another client, shows " +
      "it again; give its own recoveryKey to backup.trust() if the user wants it back, or reset() it",
    { problem: "untrusted" },
  );
}

async function secretOf({ storage, recoveryKey }: KeyBackupUnlock, request: RequestOptions): Promise<string> {
  if ((storage === undefined) === (recoveryKey === undefined)) {
    throw new ValueError("Cannot trust the backup: it takes a storage or a recoveryKey; give one of them");
  }
  if (recoveryKey !== undefined) {
    const bytes = decodeRecoveryKey(recoveryKey);
    const secret = backupSecret(bytes);
    bytes.fill(0);
    return secret;
  }
  const secret = await storage?.get(BACKUP_SECRET, request);
  if (secret !== undefined) return secret;
  throw new KeyBackupError(
    "Cannot trust the backup: the secret storage does not have its key; give its own recovery key, or reset() it",
    { problem: "no-secret" },
  );
}

function recoveryKeyOf(secret: string): string {
  const bytes = readKeySecret(secret) ?? new Uint8Array(); // it was made here
  const recoveryKey = encodeRecoveryKey(bytes);
  bytes.fill(0);
  return recoveryKey;
}

/** How many keys a step takes: some milliseconds of work. */
const KEYS_A_STEP = 200;
/** How many keys are taken, unless the caller says how many. */
const MAX_KEYS = 50_000;
/** The size of a key in an answer, in bytes, is taken to be no larger on average; most take 1,200. */
const BYTES_A_KEY = 8_192;

/** Restores all keys. */
export async function restored(
  engine: EngineRunner,
  api: KeyBackupAPI,
  { onProgress, limit = MAX_KEYS, ...options }: RestoreKeysOptions,
): Promise<KeyImportReport> {
  const { actor } = engine;
  const request = optionsOfEach(options, {}, "restore keys");
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new ValueError(
      `Cannot restore all room keys: the limit ${limit} is no whole number from 1 on; give one`,
    );
  }
  await engine.open();
  const version = await readableVersion(actor);
  // What is here goes into the backup first, so that nothing of it does that comes from there.
  await engine.requests.idle();
  const { count } = await api.getKeyBackupVersion({ ...request, version });
  const report = { total: 0, added: 0, improved: 0, known: 0, refused: 0 };
  const take = async (shown: readonly RestoredKey[]): Promise<void> => {
    request.signal?.throwIfAborted();
    const keys = shown.slice(0, limit - report.total);
    if (await readableVersion(actor) !== version) throw changed();
    const { recovered, ...counts } = await actor.restoreKeys({ version, keys });
    report.total += keys.length;
    for (const kind of ["added", "improved", "known", "refused"] as const) report[kind] += counts[kind];
    engine.deliver(recovered);
    const { total: done, ...counted } = report;
    onProgress?.({ ...counted, done, total: count });
    if (keys.length < shown.length) throw tooMany(limit);
  };
  const isWhole = await inSteps(bounded(await api.downloadRoomKeys(version, request), limit), take);
  engine.requests.wake(); // what came need not be asked for any more
  if (isWhole) return report;
  throw new ServiceResponseError(
    "Cannot restore all room keys: the answer of the server breaks off; try again",
  );
}

/** Passes an answer on as far as so many keys go. */
async function* bounded(answer: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let left = (limit + 1) * BYTES_A_KEY;
  for await (const block of answer) {
    left -= block.length;
    if (left < 0) throw tooMany(limit);
    yield block;
  }
}

function tooMany(limit: number): ServiceResponseError {
  return new ServiceResponseError(
    `Cannot restore all room keys: the server sends more than ${limit}; give a larger limit if the user has so many`,
  );
}

/** Has the keys of an answer taken, as many at a time as a step takes; returns whether it is whole. */
async function inSteps(
  answer: AsyncIterable<Uint8Array>,
  take: (keys: readonly RestoredKey[]) => Promise<void>,
): Promise<boolean> {
  const reader = new RoomKeysReader();
  let batch: RestoredKey[] = [];
  for await (const block of answer) {
    for (const key of reader.add(block)) {
      if (batch.push(key) < KEYS_A_STEP) continue;
      await take(batch);
      batch = [];
    }
  }
  await take(batch);
  return reader.isWhole;
}

/** The version in use. */
async function readableVersion(actor: ActorRef<CryptoHandlers>): Promise<string> {
  const state = await actor.backupState();
  if (state?.isReadable && state.phase === "on") return state.version;
  throw new KeyBackupError(
    "Cannot restore room keys: no backup whose key is there is in use; trust() the backup with its key",
    { problem: "untrusted" },
  );
}

function changed(): KeyBackupError {
  return new KeyBackupError("Cannot restore room keys: another version is in use by now; try again", {
    problem: "changed",
  });
}

/** Restores the key of a session; returns whether one has come. */
export async function restoreSession(
  engine: EngineRunner,
  api: KeyBackupAPI,
  version: string,
  session: MegolmSessionRef,
): Promise<boolean> {
  const data = await api.getRoomKey(version, session).catch(undefinedIfNotFound);
  const { recovered, added, improved } = await engine.actor.restoreKeys({
    version,
    keys: [{ ...session, data }],
  });
  engine.deliver(recovered);
  engine.requests.wake();
  return added + improved > 0;
}
