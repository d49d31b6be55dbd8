import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { StoreFullError } from "@greenroom/matrix/errors";
import type { StoreMutation } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { BLOCK } from "../../../src/store/sqlite/rows.ts";
import { change } from "../support/spoiled_sqlite.ts";

const put = (part: string, value: unknown = 1): StoreMutation[] => [{ type: "set", key: [part], value }];

/** The path of a file that is not there yet. */
async function place(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await Deno.makeTempDir();
  return {
    path: `${folder}/store.db`,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Commits, and says which version that has. */
async function stampOf(store: SqliteStore): Promise<string> {
  assert(await store.commit(put("a")));
  return (await store.getMany([["a"]]))[0]?.versionstamp ?? "";
}

/** The counter of the file: the last version taken by any process. */
function countOf(path: string): unknown {
  using database = new DatabaseSync(path, { readOnly: true });
  return database.prepare("SELECT version FROM kv WHERE key = x'FF'").get()?.version;
}

Deno.test("Stores on one file never give the same version, however often they are opened, and beside an older Greenroom", async () => {
  await using here = await place();
  const stamps: string[] = [];
  for (let time = 0; time < 3; time++) {
    await using first = await SqliteStore.open(here.path);
    await using second = await SqliteStore.open(here.path);
    for (const store of [first, second, second, first]) stamps.push(await stampOf(store));
    // As one counts that takes no blocks.
    change(here.path, "UPDATE kv SET version = version + 1 WHERE key = x'FF'");
    stamps.push(String(countOf(here.path)));
  }
  assertEquals(new Set(stamps).size, stamps.length);
  assert(stamps.every((stamp) => Number(stamp) <= Number(countOf(here.path))));
});

Deno.test("A store takes a block of versions at its first commit, and the next when that is used up", async () => {
  await using here = await place();
  await using store = await SqliteStore.open(here.path);
  assertFalse(await store.commit(put("a"), [{ key: ["a"], versionstamp: "1" }]));
  assertEquals(countOf(here.path), 0);
  for (let version = 1; version <= BLOCK; version++) assertEquals(await stampOf(store), String(version));
  assertEquals(countOf(here.path), BLOCK);
  await using other = await SqliteStore.open(here.path);
  assertEquals(await stampOf(other), String(BLOCK + 1));
  assertEquals(await stampOf(store), String(2 * BLOCK + 1));
});

Deno.test("Versions that were taken in a commit that was rolled back go to one other commit only", async () => {
  await using here = await place();
  const database = new DatabaseSync(here.path);
  await using failing = await SqliteStore.over(database);
  await using other = await SqliteStore.open(here.path);
  database.exec("PRAGMA max_page_count = 10");
  await assertRejects(() => failing.commit(put("a", "large".repeat(20_000))), StoreFullError);
  assertEquals(countOf(here.path), 0);
  const stamps = [await stampOf(other), await stampOf(other), await stampOf(failing), await stampOf(other)];
  assertEquals(new Set(stamps).size, 4);
});
