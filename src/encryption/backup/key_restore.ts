/**
 * Restores room keys from the backup: all of them, or that of an event that can't be read.
 *
 * @module
 */

import type { KeyBackupAPI, RestoreKeysOptions } from "./key_backup.ts";
import type { KeyImportReport } from "../key_files.ts";
import type { CryptoHandlers, EngineRunner } from "../../actors/crypto/crypto.ts";
import type { ActorRef } from "../../actors/kernel/mod.ts";
import { optionsOfEach } from "../../api/http/mod.ts";
import { type RestoredKey, RoomKeysReader } from "../../crypto/backup/backup.ts";
import type { MegolmSessionRef } from "../../types/checks/room_keys.ts";
import { undefinedIfNotFound } from "../../errors/request_errcodes.ts";
import { KeyBackupError } from "../../errors/secret_storage_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";

/** How many keys a step takes: some milliseconds of work. */
const KEYS_A_STEP = 200;
/** How many keys are taken, unless the caller says how many. */
const MAX_KEYS = 50_000;
/** How many bytes a key takes in an answer, on an average that none reaches: most take 1,200. */
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
    onProgress?.({ ...report, count });
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
