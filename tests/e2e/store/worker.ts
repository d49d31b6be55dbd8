/**
 * What another process does with a store.
 *
 * Arguments: the class of the store, its file, and the job.
 */

import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { runStoreJob } from "../../../src/testing/conformance/conformance.ts";

const [kind, path = "", job = ""] = Deno.args;
await runStoreJob(() => kind === "SqliteStore" ? SqliteStore.open(path) : KvStore.open(path), job);
