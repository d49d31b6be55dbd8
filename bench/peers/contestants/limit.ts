/**
 * The limit: `fetch`, `JSON.parse` and a walk through all events, and nothing that any client could
 * do without.
 *
 * `--store=sqlite` writes down each token in a file of SQLite, in a transaction that syncs it: the
 * least that durability takes.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { BareClient, type Response } from "./bare_client.ts";
import { answers, countMany, drive, option } from "./drive.mjs";

function durably(path: string): (token: string) => void {
  const database = new DatabaseSync(path);
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE token (id INTEGER PRIMARY KEY, token)",
  );
  const write = database.prepare("REPLACE INTO token VALUES (0, ?)");
  return (token) => void write.run(token);
}

/** What a handler would do with an event: look at it. */
function walk({ rooms }: Response): number {
  let events = 0;
  for (const { timeline } of Object.values(rooms?.join ?? {})) {
    for (const event of timeline.events) {
      if (event.type !== "" && event.content !== undefined) events++;
    }
  }
  return events;
}

const keep = option("store") === "sqlite" ? durably(`${option("folder")}/limit.db`) : () => {};
await drive((token) => {
  const client = new BareClient(token);
  const send = (roomId: string, body: string) =>
    client.send(roomId, "m.room.message", { msgtype: "m.text", body });
  client.sync((response) => {
    keep(response.next_batch);
    if (answers) client.answer(response, send);
    else countMany(walk(response));
  });
  return { send };
});
