import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { StoreMutation } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { contentOf } from "../support/spoiled_sqlite.ts";

const STEP = 256 * 1024;
const LIMIT = 4 * 1024 * 1024;

const put = (part: string, value: unknown = part): StoreMutation[] => [{ type: "set", key: [part], value }];

interface Place extends AsyncDisposable {
  readonly path: string;
  readonly store: SqliteStore;
  /** How many bytes the log has. */
  size(): number;
}

/** A store on a file, with two commits: from the second one on its log is written ahead. */
async function place(): Promise<Place> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  const store = await SqliteStore.open(path);
  for (const part of ["a", "b"]) assert(await store.commit(put(part)));
  return {
    path,
    store,
    size: () => Deno.statSync(`${path}-wal`).size,
    async [Symbol.asyncDispose]() {
      await store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** What a store has, in order. */
async function valuesOf(store: SqliteStore): Promise<unknown[]> {
  return (await Array.fromAsync(store.list([]))).map(({ value }) => value);
}

Deno.test("Commits of SqliteStore write over what its log has ahead, and do not make it larger", async () => {
  await using here = await place();
  for (let count = 0; count < 30; count++) {
    assertEquals(here.size(), STEP);
    assert(await here.store.commit(put("c", count)));
  }
  const half = new Uint8Array(STEP / 2);
  for (const part of ["d", "e"]) await here.store.commit(put(part, half)); // SQLite itself has made it larger
  await here.store.commit(put("f"));
  assertEquals(here.size(), 2 * STEP);
});

Deno.test("Commits of SqliteStore survive a crash, however far its log was written ahead", async () => {
  await using here = await place();
  const [file, log] = [await contentOf(here.path), await contentOf(`${here.path}-wal`)];
  const end = log.findLastIndex((byte) => byte !== 0) + 1;
  assert(end < STEP - 10_000);
  for (const length of [end + 1, end + 5_000, STEP]) {
    const copy = `${here.path}-${length}`;
    await Deno.writeFile(copy, file);
    await Deno.writeFile(`${copy}-wal`, log.subarray(0, length));
    await using again = await SqliteStore.open(copy);
    assertEquals(await valuesOf(again), ["a", "b"]);
    for (const part of ["c", "d"]) assert(await again.commit(put(part)));
    await using third = await SqliteStore.open(copy);
    assertEquals(await valuesOf(third), ["a", "b", "c", "d"]);
  }
});

Deno.test("Other processes' stores read and write beside one whose log is written ahead", async () => {
  await using here = await place();
  await using other = await SqliteStore.open(here.path);
  for (let round = 0; round < 40; round++) {
    const [one, two] = round % 2 === 0 ? [here.store, other] : [other, here.store];
    assert(await one.commit(put("c", round)));
    assertEquals(await valuesOf(two), ["a", "b", round]);
    assertEquals(here.size(), STEP);
  }
  using database = new DatabaseSync(here.path);
  assertEquals(database.prepare("PRAGMA integrity_check").get()?.integrity_check, "ok");
});

Deno.test("SqliteStore's log is written ahead up to the length that it stays, and no further", async () => {
  await using here = await place();
  using reader = new DatabaseSync(here.path);
  reader.exec("BEGIN; SELECT count(*) FROM kv"); // so that the log can't start again
  for (const [part, length] of [["large", LIMIT], ["c", 1], ["d", 1]] as const) {
    await here.store.commit(put(part, new Uint8Array(length)));
    assert(here.size() > LIMIT && here.size() % STEP > 0);
  }
  reader.exec("COMMIT; PRAGMA wal_checkpoint(PASSIVE)");
  for (const part of ["e", "f", "g"]) {
    await here.store.commit(put(part));
    assertEquals(here.size(), LIMIT);
  }
});

Deno.test("SqliteStore commits where there is no room to write its log ahead, and does not try again", async () => {
  const { writeSync } = Deno.FsFile.prototype;
  let tries = 0;
  Deno.FsFile.prototype.writeSync = () => {
    tries++;
    throw new Error("No space left on device");
  };
  try {
    await using here = await place();
    assert(await here.store.commit(put("c")));
    assertEquals(await valuesOf(here.store), ["a", "b", "c"]);
    assertEquals(tries, 1);
    assert(here.size() % STEP > 0);
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
});
