/** A commit, on each store: what a sync writes is one. Files are synced with each commit. */

import { KvStore } from "../../src/store/deno_kv/deno_kv.ts";
import { MemoryStore, type Store } from "../../src/store/base/mod.ts";
import { SqliteStore } from "../../src/store/sqlite/sqlite.ts";

const value = new Uint8Array(200);

async function benchStore(name: string, open: (folder: string) => Store | Promise<Store>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  const store = await open(folder);
  globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));
  for (const count of [1, 100]) {
    Deno.bench(`${name}: a commit of ${count} × 200 bytes`, { group: `commit ${count}` }, async () => {
      const keys = Array.from({ length: count }, (_, index) => ["bench", String(index)]);
      await store.commit(keys.map((key) => ({ type: "set", key, value })));
    });
  }
}

await benchStore("memory", () => new MemoryStore());
await benchStore("SQLite", (folder) => SqliteStore.open(`${folder}/store.db`));
await benchStore("Deno KV", (folder) => KvStore.open(`${folder}/store.kv`));
