import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { StoreError } from "@greenroom/matrix/errors";
import type { StoreMutation } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const put = (part: string): StoreMutation[] => [{ type: "set", key: [part], value: 1 }];

interface Stage extends AsyncDisposable {
  readonly database: DatabaseSync;
  readonly store: SqliteStore;
  /** The syncs that have begun, each of which ends as its test says. */
  readonly syncs: PromiseWithResolvers<void>[];
}

/** Puts something in the place of a method until it is disposed of. */
function replace<Owner, Name extends keyof Owner>(owner: Owner, name: Name, method: Owner[Name]): Disposable {
  const before = owner[name];
  owner[name] = method;
  return { [Symbol.dispose]: () => void (owner[name] = before) };
}

/** A store with one commit, after which syncs of its log are held up. */
async function stage(): Promise<Stage> {
  const folder = await Deno.makeTempDir();
  const database = new DatabaseSync(`${folder}/store.db`);
  database.exec("PRAGMA synchronous = OFF");
  const store = await SqliteStore.over(database);
  assertEquals(settings(database), ["wal", 2, 1, 1]); // the first commit is synced by SQLite
  await store.commit(put("first"));
  const syncs: Stage["syncs"] = [];
  const { syncData } = Deno.FsFile.prototype;
  const held = replace(Deno.FsFile.prototype, "syncData", async function (this: Deno.FsFile) {
    const sync = Promise.withResolvers<void>();
    syncs.push(sync);
    await sync.promise;
    await syncData.call(this);
  });
  const end = async () => {
    held[Symbol.dispose]();
    await store.close();
    await Deno.remove(folder, { recursive: true });
  };
  return { database, store, syncs, [Symbol.asyncDispose]: end };
}

function settings(database: DatabaseSync): unknown[] {
  const names = ["journal_mode", "synchronous", "fullfsync", "cell_size_check"];
  return names.map((name) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

/** Notes when something is done. */
function watch(work: Promise<unknown>): { isDone: boolean } {
  const watched = { isDone: false };
  work.then(() => watched.isDone = true, () => {});
  return watched;
}

/** Lets all go on that waits for nothing outside of the program. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("SqliteStore.commit() resolves when the log has been synced, and not before", async () => {
  await using here = await stage();
  assertEquals(settings(here.database), ["wal", 1, 1, 1]);
  const commit = here.store.commit(put("a"));
  const seen = watch(commit);
  await settle();
  assertFalse(seen.isDone);
  assertEquals(here.syncs.length, 1);
  here.syncs[0]?.resolve();
  assert(await commit);
  assertEquals((await here.store.getMany([["a"]]))[0]?.value, 1);
});

Deno.test("SqliteStore.commit() waits for no sync if there is nothing to sync", async () => {
  await using here = await stage();
  assert(await here.store.commit([], [{ key: ["none"], versionstamp: null }]));
  assertFalse(await here.store.commit(put("a"), [{ key: ["none"], versionstamp: "1" }]));
  assertEquals(here.syncs.length, 0);
});

Deno.test("Commits of SqliteStore that come while the log is synced share the next sync", async () => {
  await using here = await stage();
  const first = here.store.commit(put("a"));
  await settle();
  const others = ["b", "c", "d"].map((part) => here.store.commit(put(part)));
  const seen = others.map(watch);
  here.syncs[0]?.resolve();
  await first;
  await settle();
  // The first came before them.
  assertEquals([here.syncs.length, seen.filter(({ isDone }) => isDone).length], [2, 0]);
  here.syncs[1]?.resolve();
  await Promise.all(others);
  assertEquals(here.syncs.length, 2);
});

Deno.test("SqliteStore.commit() rejects from a sync that fails on", async () => {
  await using here = await stage();
  const first = here.store.commit(put("a"));
  await settle();
  const waiting = here.store.commit(put("b"));
  const cause = new Error("The disk is broken");
  here.syncs[0]?.reject(cause);
  const error = await assertRejects(() => first, StoreError, "its log can't be synced");
  assertEquals(error.cause, cause);
  for (const commit of [waiting, here.store.commit(put("c"))]) {
    assertEquals(await assertRejects(() => commit), error);
  }
  assertEquals(here.syncs.length, 1);
});

Deno.test("SqliteStore.close() waits for the log to be synced, and refuses what comes later", async () => {
  await using here = await stage();
  const commit = here.store.commit(put("a"));
  await settle();
  const close = here.store.close();
  const seen = watch(close);
  await assertRejects(() => here.store.commit(put("b")), Error, "it is closed");
  await settle();
  assertFalse(seen.isDone);
  here.syncs[0]?.resolve();
  await close;
  assert(await commit);
});

for (const [name, state] of [["may not be opened", "prompt"], ["can't be opened", "granted"]] as const) {
  Deno.test(`SQLite syncs each commit itself if the log ${name}`, async () => {
    const folder = await Deno.makeTempDir();
    const database = new DatabaseSync(`${folder}/store.db`);
    const store = await SqliteStore.over(database);
    const opened: unknown[] = [];
    using _permission = replace(Deno.permissions, "querySync", () => ({ state }) as Deno.PermissionStatus);
    using _open = replace(Deno, "openSync", (path) => {
      opened.push(path);
      throw new Deno.errors.NotFound();
    });
    for (const part of ["a", "b"]) assert(await store.commit(put(part)));
    assertEquals(settings(database), ["wal", 2, 1, 1]);
    assertEquals(opened, state === "granted" ? [`${database.location()}-wal`] : []);
    await store.close();
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test({
  name: "A small commit reads nothing of large values beside it",
  ignore: Deno.build.os !== "linux", // others do not count what a process reads
  async fn() {
    const args = [
      "run",
      "-A",
      "--no-check",
      "--quiet",
      new URL("./commit_reads.ts", import.meta.url).pathname,
    ];
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    const reads = Number(new TextDecoder().decode(stdout));
    assert(reads < 100, `${reads} reads`);
  },
});

Deno.test("A file whose table has no index of its own is used as it is", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  {
    await using store = await SqliteStore.open(path);
    await store.commit(put("a"));
  }
  const database = new DatabaseSync(path);
  database.exec(`
    ALTER TABLE kv RENAME TO newer;
    CREATE TABLE kv (key BLOB PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO kv (key, value, version) SELECT key, value, version FROM newer;
    DROP TABLE newer`);
  database.close();
  await using store = await SqliteStore.open(path);
  await store.commit(put("b"));
  assertEquals(await Array.fromAsync(store.list([]), ({ key }) => key), [["a"], ["b"]]);
  await store.close();
  await Deno.remove(folder, { recursive: true });
});
