import { SqliteStore } from "../../src/store/sqlite_store.ts";
import { storeConformance } from "../../src/testing/store_conformance.ts";

storeConformance("SqliteStore in memory", () => SqliteStore.open(":memory:"), { copies: true });

const folders = new Map<string, string>();

storeConformance("SqliteStore on a file", async (place) => {
  const folder = folders.get(place) ?? await Deno.makeTempDir();
  folders.set(place, folder);
  return await SqliteStore.open(`${folder}/store.db`);
}, {
  durable: true,
  shared: true,
  copies: true,
  cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
});
