/**
 * The limit: `fetch`, `JSON.parse` and a walk through all events, and nothing that anybody could do without.
 *
 * `--store=sqlite` writes down each token in a file of SQLite, in a transaction that syncs it: the least that durability takes.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { countMany, drive, option, url } from "./drive.mjs";

interface Response {
  readonly next_batch: string;
  readonly rooms?: {
    readonly join?: Record<string, { readonly timeline: { readonly events: readonly Event[] } }>;
  };
}

interface Event {
  readonly type: string;
  readonly content: object;
}

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

async function loop(token: string, keep: (since: string) => void): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (let since = "";;) {
    const query = since === "" ? "" : `&since=${since}`;
    const response = await fetch(`${url}/_matrix/client/v3/sync?timeout=30000${query}`, { headers });
    const body: Response = JSON.parse(await response.text());
    keep(since = body.next_batch);
    countMany(walk(body));
  }
}

const keep = option("store") === "sqlite" ? durably(`${option("folder")}/limit.db`) : () => {};
await drive((token) => {
  loop(token, keep);
});
