/**
 * Restores room keys from the backup: all of them, or that of an event that can't be read.
 *
 * @module
 */

import type { RestoreKeysOptions } from "./key_backup.ts";
import type { KeyImportReport } from "../key_files.ts";
import { optionsOfEach } from "../../api/http/request_options.ts";
import type { RestoredKey } from "../../crypto/backup/backup_protocol.ts";
import { RoomKeysReader } from "../../crypto/backup/room_keys_reader.ts";
import type { MegolmSessionRef } from "../../crypto/megolm/session_ref.ts";
import type { RoomID } from "../../types/ids.ts";
import { NotFoundError } from "../../errors/errcodes.ts";
import { KeyBackupError } from "../../errors/key_backup_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import type { KeyBackupParts } from "./key_backup_parts.ts";

/** How many keys a step takes: some milliseconds of work. */
const KEYS_A_STEP = 200;

/** Restores all keys. */
export async function restored(
  parts: KeyBackupParts,
  { onProgress, ...options }: RestoreKeysOptions,
): Promise<KeyImportReport> {
  const { api, actor, open, idle, deliver, wake } = parts;
  const request = optionsOfEach(options, {}, "restore keys");
  await open();
  const version = await readableVersion(parts);
  await idle(); // what is here goes into the backup first, so that nothing of it does that comes from there
  const { count } = await api.getKeyBackupVersion({ ...request, version });
  const report = { total: 0, added: 0, improved: 0, known: 0, refused: 0 };
  const take = async (keys: readonly RestoredKey[]): Promise<void> => {
    request.signal?.throwIfAborted();
    if (await readableVersion(parts) !== version) throw changed();
    const { recovered, ...counts } = await actor.ask("restoreKeys", { version, keys });
    report.total += keys.length;
    for (const kind of ["added", "improved", "known", "refused"] as const) report[kind] += counts[kind];
    deliver(recovered);
    onProgress?.({ ...report, count });
  };
  const isWhole = await inSteps(await api.downloadRoomKeys(version, request), take);
  wake(); // what came need not be asked for any more
  if (isWhole) return report;
  throw brokenOff("all room keys");
}

/**
 * Restores the keys of a room.
 *
 * @throws {ServiceResponseError} If the answer breaks off: what had come by then is restored.
 */
export async function restoreRoom(
  { api, actor, deliver, wake }: KeyBackupParts,
  version: string,
  roomId: RoomID,
): Promise<void> {
  const take = async (keys: readonly RestoredKey[]): Promise<void> => {
    const { recovered } = await actor.ask("restoreKeys", { version, keys });
    deliver(recovered);
    wake();
  };
  const isWhole = await inSteps(inRooms(roomId, await api.downloadRoomKeys(version, { roomId })), take);
  if (!isWhole) throw brokenOff("the room keys of a room");
}

function brokenOff(what: string): ServiceResponseError {
  return new ServiceResponseError(
    `Cannot restore ${what}: the answer of the server breaks off; try again`,
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

/** What a backup has of a room, put in the place where the answer for all rooms has it. */
async function* inRooms(
  roomId: RoomID,
  ofRoom: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`{"rooms":{${JSON.stringify(roomId)}:`);
  let isEmpty = true;
  for await (const block of ofRoom) {
    isEmpty &&= block.length === 0;
    yield block;
  }
  if (!isEmpty) yield encoder.encode("}}"); // else it has broken off before it began
}

/** The version in use. */
async function readableVersion({ actor }: KeyBackupParts): Promise<string> {
  const state = await actor.ask("backupState", undefined);
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
  { api, actor, deliver, wake }: KeyBackupParts,
  version: string,
  session: MegolmSessionRef,
): Promise<boolean> {
  const data = await api.getRoomKey(version, session).catch((error: unknown) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  const { recovered, added, improved } = await actor.ask("restoreKeys", {
    version,
    keys: [{ ...session, data }],
  });
  deliver(recovered);
  wake();
  return added + improved > 0;
}
