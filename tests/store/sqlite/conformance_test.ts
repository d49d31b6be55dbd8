import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { storeConformance } from "../../../src/testing/conformance/conformance.ts";
import { contentOf, spoilSqlite } from "../support/spoiled_sqlite.ts";

storeConformance("SqliteStore in memory", () => SqliteStore.open(":memory:"), { copies: true });

const folders = new Map<string, string>();

function fileOf(place: string): string {
  const folder = folders.get(place) ?? Deno.makeTempDirSync();
  folders.set(place, folder);
  return `${folder}/store.db`;
}

storeConformance("SqliteStore on a file", (place) => SqliteStore.open(fileOf(place)), {
  durable: true,
  shared: true,
  locks: true,
  copies: true,
  spoil: spoilSqlite(fileOf),
  contentOf: (place) => contentOf(fileOf(place)),
  cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
});
