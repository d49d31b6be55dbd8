/**
 * What it takes to restore a backup of many room keys, and to make another:
 * `deno run -A bench/parts/backup.ts 10000 100000`.
 *
 * Each in a process of its own, from a file that holds the answer of the server: Greenroom with its
 * store in memory and in SQLite, and matrix-sdk-crypto-wasm with its store in memory. Prints keys a
 * second, and the peak memory.
 *
 * @module
 */

import {
  BackupDecryptionKey,
  DeviceId,
  initAsync,
  OlmMachine,
  RoomId,
  UserId,
} from "@matrix-org/matrix-sdk-crypto-wasm";
import { type RestoredKey, RoomKeysReader } from "../../src/crypto/backup/backup.ts";
import { MemoryStore } from "../../src/store/base/mod.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite.ts";
import { backedUpSessions, backUp, backupEngine, PUBLIC_KEY, SECRET, version } from "./backup_keys.ts";

const KEYS_A_ROOM = 500;
/** No more are backed up: matrix-sdk-crypto-wasm takes longer the more there are. */
const MAX_UPLOADED = 5_000;
/** As many as the clients of each give it at once. */
const A_STEP = 200;
const CONTESTANTS = ["Greenroom, memory", "Greenroom, SQLite", "matrix-sdk-crypto-wasm"] as const;

type Contestant = typeof CONTESTANTS[number];

/** Writes what the server answers. */
async function make(path: string, count: number): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  const writer = file.writable.getWriter();
  const write = (text: string) => writer.write(new TextEncoder().encode(text));
  await write('{"rooms":{');
  for (let done = 0; done < count; done += KEYS_A_ROOM) {
    const roomId = `!${done}:example.org`;
    const sessions = backedUpSessions(Math.min(KEYS_A_ROOM, count - done), roomId);
    await write(`${done === 0 ? "" : ","}"${roomId}":{"sessions":${sessions}}`);
  }
  await write("}}");
  await writer.close();
}

/** What one does: restores the answer, then backs all up to a new version. */
interface Work {
  restore(path: string): Promise<number>;
  backUp(): Promise<number>;
}

async function greenroom(folder: string | undefined): Promise<Work> {
  const store = folder === undefined ? new MemoryStore() : await SqliteStore.open(`${folder}/bench.db`);
  const engine = await backupEngine(store);
  return {
    async restore(path) {
      let count = 0;
      const take = async (keys: readonly RestoredKey[]) => {
        const { added } = await engine.steps.restoreKeys({ version: "1", keys });
        count += added;
        note();
      };
      const reader = new RoomKeysReader();
      let batch: RestoredKey[] = [];
      for await (const block of (await Deno.open(path)).readable) {
        for (const key of reader.add(block)) {
          if (batch.push(key) < A_STEP) continue;
          await take(batch);
          batch = [];
        }
      }
      await take(batch);
      return count;
    },
    async backUp() {
      await engine.steps.adoptBackup({ shown: version("2"), secret: SECRET });
      return await backUp(engine, MAX_UPLOADED);
    },
  };
}

async function olmMachine(): Promise<Work> {
  await initAsync();
  const machine = await OlmMachine.initialize(new UserId("@bench:example.org"), new DeviceId("BENCH"));
  return {
    async restore(path) {
      using key = BackupDecryptionKey.fromBase64(SECRET);
      const { rooms } = JSON.parse(await Deno.readTextFile(path));
      note();
      let [count, pending] = [0, 0];
      let batch = new Map<RoomId, Map<string, unknown>>();
      const take = async () => {
        await machine.importBackedUpRoomKeys(batch, () => {}, "1");
        count += pending;
        [batch, pending] = [new Map(), 0];
        note();
      };
      for (const [roomId, { sessions }] of Object.entries<{ sessions: Record<string, BackupRow> }>(rooms)) {
        let room = new RoomId(roomId); // the machine takes it over
        for (const [sessionId, { session_data: data }] of Object.entries(sessions)) {
          const session = JSON.parse(key.decryptV1(data.ephemeral, data.mac, data.ciphertext));
          if (!batch.has(room)) batch.set(room, new Map());
          batch.get(room)?.set(sessionId, { ...session, session_id: sessionId, room_id: roomId });
          if (++pending < A_STEP) continue;
          await take();
          room = new RoomId(roomId);
        }
        if (pending > 0) await take(); // it takes the names of the rooms with them
      }
      return count;
    },
    async backUp() {
      await machine.enableBackupV1(PUBLIC_KEY, "2");
      let count = 0;
      while (count < MAX_UPLOADED) {
        const request = await machine.backupRoomKeys();
        if (request === undefined) return count;
        const { rooms } = JSON.parse(request.body);
        for (const { sessions } of Object.values<{ sessions: object }>(rooms)) {
          count += Object.keys(sessions).length;
        }
        await machine.markRequestAsSent(request.id, request.type, JSON.stringify({ count, etag: "1" }));
      }
      return count;
    },
  };
}

/** A row of the backup. */
interface BackupRow {
  readonly session_data: { readonly ephemeral: string; readonly mac: string; readonly ciphertext: string };
}

let peak = 0;

function note(): void {
  peak = Math.max(peak, Deno.memoryUsage().rss);
}

async function measure(contestant: Contestant, folder: string): Promise<void> {
  note();
  const before = peak;
  const work = contestant === "matrix-sdk-crypto-wasm"
    ? await olmMachine()
    : await greenroom(contestant === "Greenroom, SQLite" ? folder : undefined);
  const rate = async (job: () => Promise<number>): Promise<[string, number]> => {
    const start = performance.now();
    const count = await job();
    note();
    return [`${Math.round(count / (performance.now() - start) * 1_000)} keys/s`, count];
  };
  const [restored, count] = await rate(() => work.restore(`${folder}/keys.json`));
  const most = peak;
  const [backedUp, up] = await rate(() => work.backUp());
  const used = `peak ${most >> 20} MiB, ${before >> 20} MiB before`;
  console.log(`${contestant}: restored ${count} at ${restored}, ${used}; backed up ${up} at ${backedUp}`);
}

const [first, folder] = Deno.args;
if (folder !== undefined && Deno.args.length === 2 && Number.isNaN(Number(first))) {
  await measure(first as Contestant, folder); // as it was started below
  Deno.exit();
}
for (const count of Deno.args.length === 0 ? ["10000"] : Deno.args) {
  const made = await Deno.makeTempDir();
  try {
    await make(`${made}/keys.json`, Number(count));
    for (const contestant of CONTESTANTS) {
      const args = ["run", "-A", import.meta.filename ?? "", contestant, made];
      await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" }).output();
    }
  } finally {
    await Deno.remove(made, { recursive: true });
  }
}
