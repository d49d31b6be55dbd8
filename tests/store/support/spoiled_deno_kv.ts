import { DatabaseSync } from "node:sqlite";
import { StoreFormatError, StoreFullError, StoreReadOnlyError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";
import { formatKey } from "../../../src/store/deno_kv/database.ts";
import type { SpoilOptions } from "@greenroom/matrix/testing";
import { watchedKv } from "./watched_kv.ts";

/** How many commits a full place has room for. */
const ROOM = 3;

/**
 * What Deno says where there is no room, and where there is no writing: seen with a small disk, and
 * with another user's file.
 */
const FULL = "database or disk is full";
const READ_ONLY = "Can not write to a read-only database.";

/** The bytes of a file, all of which are in it once the database was closed. */
export async function contentOf(path: string): Promise<Uint8Array> {
  return await Deno.readFile(path);
}

async function refusing(path: string, text: string, after: { commits: number }): Promise<KvStore> {
  const kv = await Deno.openKv(path);
  const beforeCommit = () => {
    if (--after.commits < 0) throw new TypeError(text);
  };
  return await KvStore.over(watchedKv(kv, { beforeCommit, close: () => kv.close() }));
}

async function note(path: string, format: string): Promise<void> {
  using kv = await Deno.openKv(path);
  await kv.set(formatKey, new TextEncoder().encode(format));
}

/** Makes something be wrong with the file of a place. */
export function spoilDenoKv(fileOf: (place: string) => string): SpoilOptions {
  return {
    full: (place) => {
      const left = { commits: ROOM };
      return {
        error: StoreFullError,
        open: () => refusing(fileOf(place), FULL, left),
        mend: () => void (left.commits = Infinity),
      };
    },
    readOnly: (place) => ({
      error: StoreReadOnlyError,
      open: () => refusing(fileOf(place), READ_ONLY, { commits: 0 }),
      mend: () => {}, // the next one opens it otherwise
    }),
    corrupted: async (place) => {
      const path = fileOf(place);
      const whole = await contentOf(path);
      const damaged = whole.slice();
      damaged.fill(0x5a, 4096);
      await Deno.writeFile(path, damaged);
      return { error: StoreFormatError, mend: () => Deno.writeFile(path, whole) };
    },
    foreign: (place) => {
      using database = new DatabaseSync(fileOf(place));
      database.exec("CREATE TABLE messages (text); INSERT INTO messages VALUES ('hello')");
      return { error: StoreFormatError, mend: () => Deno.remove(fileOf(place)) };
    },
    newer: async (place) => {
      await note(fileOf(place), "2");
      return { error: StoreFormatError, mend: () => note(fileOf(place), "1") };
    },
  };
}
