/**
 * Greenroom: a client with a handler of all events; with `--handlers=typed`, one of each type that
 * plain timelines have, so that the contents are checked.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { type MatrixEvent, type MessageEvent, type RoomID, SyncStream } from "@greenroom/matrix/types";
import type { Store } from "../../../src/store/base/mod.ts";
import { answers, count, drive, encrypted, option, TEXT, url } from "./drive.mjs";
import { EVERYBODY } from "../../../tests/support/everybody.ts";

const folder = option("folder");
/** The types that plain timelines have. */
const TYPES = ["m.room.message", "m.reaction", "m.room.member"] as const;
/** Only the one that is used is loaded; a client that is given none keeps everything in memory. */
const stores: Record<string, () => Promise<Store>> = {
  sqlite: async () =>
    await (await import("@greenroom/matrix/store/sqlite")).SqliteStore.open(`${folder}/greenroom.db`),
  kv: async () => await (await import("@greenroom/matrix/store/kv")).KvStore.open(`${folder}/greenroom.kv`),
};

const open = stores[option("store", "memory")];
await drive(async (token) => {
  const store = await open?.();
  const client = new Client({
    baseUrl: url,
    accessToken: token,
    mxid: "@me:example.org",
    deviceId: "BENCH",
    store,
    encryption: encrypted && EVERYBODY,
  });
  const answer = (event: MatrixEvent) =>
    "room_id" in event && client.sendText((event as MessageEvent).room_id, TEXT);
  // What can't be decrypted is not counted, and ends the run.
  const countClear = ({ type }: MatrixEvent) => void (type !== "m.room.encrypted" && count());
  if (option("handlers") === "typed") {
    for (const type of TYPES) client.addEventHandler(type, count, { source: SyncStream.TIMELINE });
  } else {client.addEventHandler(answers ? answer : encrypted ? countClear : count, {
      source: SyncStream.TIMELINE,
    });}
  client.start();
  return { send: (roomId, text) => client.sendText(roomId as RoomID, text) };
});
