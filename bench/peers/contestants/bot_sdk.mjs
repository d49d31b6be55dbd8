/**
 * matrix-bot-sdk, on Deno and on Node, with its store in memory or (`--store=file`) in a file of JSON, which
 * it does not sync.
 *
 * @module
 */

import { answers, count, drive, option, TEXT, url } from "./drive.mjs";

/** Is where the bench has installed it, and nowhere else. */
const SDK = "matrix-bot-sdk";
const { LogService, MatrixClient, MemoryStorageProvider, SimpleFsStorageProvider } = await import(SDK);

LogService.setLogger({ info() {}, warn() {}, error() {}, debug() {}, trace() {} });
const inFile = option("store") === "file";

await drive(async (token) => {
  const storage = inFile
    ? new SimpleFsStorageProvider(`${option("folder")}/${token}.json`)
    : new MemoryStorageProvider();
  const client = new MatrixClient(url, token, storage);
  client.on(
    "room.event",
    answers ? (/** @type {string} */ roomId) => client.sendText(roomId, TEXT) : count,
  );
  await client.start();
  return {
    send: (/** @type {string} */ roomId, /** @type {string} */ text) => client.sendText(roomId, text),
  };
});
