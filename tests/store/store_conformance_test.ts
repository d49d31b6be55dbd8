import { DenoKvStore } from "../../src/store/deno_kv.ts";
import { MemoryStore } from "../../src/store/memory_store.ts";
import { storeConformance } from "../../src/testing/store_conformance.ts";

storeConformance("MemoryStore", () => new MemoryStore());

storeConformance("DenoKvStore in memory", () => DenoKvStore.open(":memory:"), { copies: true });

const folders = new Map<string, string>();

storeConformance("DenoKvStore on a file", async (place) => {
  const folder = folders.get(place) ?? await Deno.makeTempDir();
  folders.set(place, folder);
  return await DenoKvStore.open(`${folder}/store.db`);
}, {
  durable: true,
  shared: true,
  copies: true,
  cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
});
