/**
 * Greenroom with encryption: a device that has the key of an event decrypts it, and its handler is
 * called.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { count, drive, option, url } from "./drive.mjs";
import { EVERYBODY } from "../../../tests/support/everybody.ts";

await drive(async () => {
  const file = option("file");
  const store = option("store") === "kv"
    ? await (await import("@greenroom/matrix/store/kv")).KvStore.open(file)
    : await (await import("@greenroom/matrix/store/sqlite")).SqliteStore.open(file);
  const client = new Client({
    baseUrl: url,
    accessToken: option("access-token"),
    encryption: EVERYBODY,
    store,
  });
  client.addEventHandler("m.room.message", () => count());
  client.start();
});
