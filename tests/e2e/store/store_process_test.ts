import { DenoKvStore } from "../../../src/store/deno_kv.ts";
import { SqliteStore } from "../../../src/store/sqlite_store.ts";
import { storeProcessConformance } from "../../../src/testing/store_process_conformance.ts";

const WORKER = new URL("worker.ts", import.meta.url).pathname;
const PERMISSIONS = ["--unstable-kv", "--allow-read", "--allow-write"];

for (const kind of [SqliteStore, DenoKvStore]) {
  const folders = new Map<string, string>();
  const fileOf = (place: string): string => {
    const folder = folders.get(place) ?? Deno.makeTempDirSync();
    folders.set(place, folder);
    return `${folder}/store.db`;
  };

  storeProcessConformance(kind.name, (place) => kind.open(fileOf(place)), {
    shared: true,
    start: (place, job) =>
      new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", "--quiet", ...PERMISSIONS, WORKER, kind.name, fileOf(place), job],
        stdout: "piped",
      }).spawn(),
    cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
  });
}
