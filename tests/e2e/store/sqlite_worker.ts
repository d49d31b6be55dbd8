/**
 * What another process does with a store in a file of SQLite.
 *
 * Arguments: the file, and the job.
 */

import { SqliteStore } from "../../../src/store/sqlite_store.ts";
import { runStoreJob } from "../../../src/testing/store_job.ts";

const [path = "", job = ""] = Deno.args;
await using store = await SqliteStore.open(path);
await runStoreJob(store, job);
