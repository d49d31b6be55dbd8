/**
 * Greenroom with encryption: a device that has the key of an event decrypts it, and its handler is called.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { DenoKvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { count, drive, option, url } from "./drive.mjs";

await drive(async () => {
  const file = option("file");
  const store = await (option("store") === "kv" ? DenoKvStore : SqliteStore).open(file);
  const client = new Client({ baseUrl: url, token: option("access-token"), encryption: true, store });
  client.addEventHandler("m.room.message", () => count());
  client.start();
});
