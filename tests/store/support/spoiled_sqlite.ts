import { DatabaseSync } from "node:sqlite";
import { StoreFormatError, StoreFullError, StoreReadOnlyError } from "@greenroom/matrix/errors";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import type { SpoilOptions } from "@greenroom/matrix/testing";

/** How many pages of 4 KiB a full place has left. */
const ROOM = 300;

/** Runs statements on a file. */
export function change(path: string, sql: string): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

/** The bytes of a file. */
export async function contentOf(path: string): Promise<Uint8Array> {
  return await Deno.readFile(path);
}

/** A database that takes no more than a little. */
function fullDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  const pages = Number(database.prepare("PRAGMA page_count").get()?.page_count);
  database.exec(`PRAGMA max_page_count = ${pages + ROOM}`);
  return database;
}

/** Makes something be wrong with the file of a place. */
export function spoilSqlite(fileOf: (place: string) => string): SpoilOptions {
  return {
    full: (place) => {
      const database = fullDatabase(fileOf(place));
      return {
        error: StoreFullError,
        open: () => SqliteStore.over(database),
        mend: () => database.exec("PRAGMA max_page_count = 1000000"),
      };
    },
    readOnly: (place) => ({
      error: StoreReadOnlyError,
      open: () => SqliteStore.over(new DatabaseSync(fileOf(place), { readOnly: true })),
      mend: () => {}, // the next one opens it otherwise
    }),
    corrupted: async (place) => {
      const path = fileOf(place);
      const whole = await contentOf(path);
      const damaged = whole.slice();
      for (let page = 2; page * 4096 < damaged.length; page += 3) {
        damaged.fill(0x5a, page * 4096, page * 4096 + 64);
      }
      await Deno.writeFile(path, damaged);
      return { error: StoreFormatError, mend: () => Deno.writeFile(path, whole) };
    },
    foreign: (place) => {
      change(fileOf(place), "CREATE TABLE kv (key, value, version); INSERT INTO kv VALUES (1, 2, 3)");
      return { error: StoreFormatError, mend: () => Deno.remove(fileOf(place)) };
    },
    newer: (place) => {
      change(fileOf(place), "PRAGMA user_version = 2");
      return { error: StoreFormatError, mend: () => change(fileOf(place), "PRAGMA user_version = 1") };
    },
  };
}
