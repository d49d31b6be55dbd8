/**
 * Greenroom: a client with a handler of all events.
 *
 * @module
 */

import { Client, MemoryStore, SyncStream } from "@greenroom/matrix";
import { DenoKvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import type { KvStore } from "../../../src/store/kv_store.ts";
import { count, drive, option, url } from "./drive.mjs";

const folder = option("folder");
const stores: Record<string, () => KvStore | Promise<KvStore>> = {
  memory: () => new MemoryStore(),
  sqlite: () => SqliteStore.open(`${folder}/greenroom.db`),
  kv: () => DenoKvStore.open(`${folder}/greenroom.kv`),
};

const open = stores[option("store", "memory")];
await drive(async (token) => {
  const store = await open?.();
  const client = new Client({ baseUrl: url, token, mxid: "@me:example.org", deviceId: "BENCH", store });
  client.addEventHandler(() => count(), { source: SyncStream.TIMELINE });
  client.start();
});
