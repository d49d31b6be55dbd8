import { SqliteStore } from "../../../src/store/sqlite_store.ts";
import { storeProcessConformance } from "../../../src/testing/store_process_conformance.ts";

const WORKER = new URL("sqlite_worker.ts", import.meta.url).pathname;

const folders = new Map<string, string>();

function fileOf(place: string): string {
  const folder = folders.get(place) ?? Deno.makeTempDirSync();
  folders.set(place, folder);
  return `${folder}/store.db`;
}

storeProcessConformance("SqliteStore", (place) => SqliteStore.open(fileOf(place)), {
  shared: true,
  start: (place, job) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--quiet", "--allow-read", "--allow-write", WORKER, fileOf(place), job],
      stdout: "piped",
    }).spawn(),
  cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
});
