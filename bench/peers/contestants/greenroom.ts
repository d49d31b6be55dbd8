/**
 * Greenroom: a client with a handler of all events.
 *
 * @module
 */

import { Client, type RoomID, SyncStream } from "@greenroom/matrix";
import type { KvStore } from "../../../src/store/kv_store.ts";
import { count, drive, encrypted, option, url } from "./drive.mjs";

const folder = option("folder");
/** Only the one that is used is loaded; a client that is given none keeps everything in memory. */
const stores: Record<string, () => Promise<KvStore>> = {
  sqlite: async () =>
    await (await import("@greenroom/matrix/store/sqlite")).SqliteStore.open(`${folder}/greenroom.db`),
  kv: async () =>
    await (await import("@greenroom/matrix/store/kv")).DenoKvStore.open(`${folder}/greenroom.kv`),
};

const open = stores[option("store", "memory")];
await drive(async (token) => {
  const store = await open?.();
  const client = new Client({
    baseUrl: url,
    token,
    mxid: "@me:example.org",
    deviceId: "BENCH",
    store,
    encryption: encrypted,
  });
  // What can't be decrypted is not counted, and ends the run.
  const handle = encrypted
    ? ({ type }: { type: string }) => void (type !== "m.room.encrypted" && count())
    : count;
  client.addEventHandler(handle, { source: SyncStream.TIMELINE });
  client.start();
  return { send: (roomId, text) => client.sendText(roomId as RoomID, text) };
});
