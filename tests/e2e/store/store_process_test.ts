import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { storeProcessConformance } from "../../../src/testing/conformance/conformance.ts";
import { findPython } from "../../../tools/python.ts";

const HERE = new URL(".", import.meta.url).pathname;
const DENO_RUN = ["run", "--no-check", "--quiet", "--unstable-kv", "--allow-read", "--allow-write"];

/**
 * Has a SQLite of its own. Deno's spares the log of a process that has lost its locks, as all do
 * from version 3.51 on.
 */
const PYTHON = Deno.env.get("GREENROOM_PYTHON") ?? (await findPython())?.command;

function start(command: string, ...args: string[]): Deno.ChildProcess {
  return new Deno.Command(command, { args, stdout: "piped" }).spawn();
}

function startStranger(file: string): Deno.ChildProcess {
  if (PYTHON !== undefined) return start(PYTHON, `${HERE}stranger.py`, file);
  return start(Deno.execPath(), ...DENO_RUN, `${HERE}stranger.ts`, file);
}

for (const kind of [SqliteStore, KvStore]) {
  const folders = new Map<string, string>();
  const fileOf = (place: string): string => {
    const folder = folders.get(place) ?? Deno.makeTempDirSync();
    folders.set(place, folder);
    return `${folder}/store.db`;
  };

  storeProcessConformance(kind.name, (place) => kind.open(fileOf(place)), {
    shared: true,
    locks: true,
    start: (place, job) =>
      start(Deno.execPath(), ...DENO_RUN, `${HERE}worker.ts`, kind.name, fileOf(place), job),
    startStranger: (place) => startStranger(fileOf(place)),
    cleanUp: (place) => Deno.remove(folders.get(place) ?? "", { recursive: true }),
  });
}
