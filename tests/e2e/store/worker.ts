/**
 * What another process does with a store.
 *
 * Arguments: the class of the store, its file, and the job.
 */

import { KvStore } from "../../../src/store/deno_kv/deno_kv.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite.ts";
import { runStoreJob } from "../../../src/testing/conformance/conformance.ts";

const [kind, path = "", job = ""] = Deno.args;
await runStoreJob(() => kind === "SqliteStore" ? SqliteStore.open(path) : KvStore.open(path), job);
