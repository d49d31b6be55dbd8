import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import {
  StoreError,
  StoreFormatError,
  StoreFullError,
  StoreInUseError,
  StoreReadOnlyError,
  ValueError,
} from "@greenroom/matrix/errors";
import type { StoreMutation } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { change, contentOf } from "../support/spoiled_sqlite.ts";

const put = (part: string, value: unknown): StoreMutation => ({ type: "set", key: [part], value });

/** Runs a test with the path of a file that is not there yet. */
function onFile(name: string, run: (path: string, folder: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await run(`${folder}/store.db`, folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

const names = (folder: string) => Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();

onFile("SqliteStore says in the file's header whose it is, from the first moment on", async (path) => {
  await using _store = await SqliteStore.open(path); // the log is not in the file yet
  const header = new DataView((await contentOf(path)).buffer);
  assertEquals([header.getUint32(68), header.getUint32(60)], [0x47726e72, 1]);
});

onFile("SqliteStore leaves nothing but the file when the last one is closed", async (path, folder) => {
  const first = await SqliteStore.open(path);
  const second = await SqliteStore.open(path);
  await first.commit([put("a", 1)]);
  await first.close();
  await second.commit([put("b", 2)]);
  assert(names(folder).length > 1);
  await second.close();
  assertEquals(names(folder), ["store.db"]);
  await using copy = await SqliteStore.over(new DatabaseSync(path, { readOnly: true }));
  assertEquals((await copy.getMany([["a"], ["b"]])).map((entry) => entry?.value), [1, 2]);
});

onFile("SqliteStore refuses each kind of foreign file, and leaves it as it is", async (path) => {
  const makers: [string, () => void | Promise<void>][] = [
    ["the file is no SQLite database", () => Deno.writeTextFile(path, "a letter to a friend ".repeat(500))],
    ["the file is no SQLite database", () => Deno.writeTextFile(path, "short")],
    ["another application's", () => change(path, "CREATE TABLE mine (a)")],
    ["another application's", () => change(path, "PRAGMA application_id = 77")],
    ["another application's", () => change(path, "PRAGMA user_version = 3")],
    [
      "another application's",
      () => change(path, "PRAGMA user_version = 1; CREATE TABLE kv (key, value, version)"),
    ],
    ["there is no version 0", () => change(path, `PRAGMA application_id = ${0x47726e72}`)],
    ["it has version 7, and this Greenroom reads up to 1; use a newer Greenroom", async () => {
      await (await SqliteStore.open(path)).close();
      change(path, "PRAGMA user_version = 7");
    }],
  ];
  for (const [says, make] of makers) {
    await make();
    const before = await contentOf(path);
    await assertRejects(() => SqliteStore.open(path), StoreFormatError, says);
    assertEquals(await contentOf(path), before);
    await Deno.remove(path);
  }
});

onFile("SqliteStore does not carry another application's log into its file", async (path, folder) => {
  const theirs = new DatabaseSync(`${folder}/theirs.db`);
  theirs.exec("PRAGMA journal_mode = WAL; CREATE TABLE mine (a); INSERT INTO mine VALUES (1)");
  // As a crash leaves it.
  for (const end of ["", "-wal"]) await Deno.copyFile(`${folder}/theirs.db${end}`, path + end);
  theirs.close();
  const before = [await contentOf(path), await contentOf(`${path}-wal`)];
  await assertRejects(() => SqliteStore.open(path), StoreFormatError);
  assertEquals([await contentOf(path), await contentOf(`${path}-wal`)], before);
});

onFile("SqliteStore takes an empty file, and one that was being made when its process died", async (path) => {
  await Deno.writeFile(path, new Uint8Array());
  await using store = await SqliteStore.open(path);
  assert(await store.commit([put("a", 1)]));
  await store.close();
  change(path, "PRAGMA journal_mode = DELETE"); // that far, and no log yet
  await using again = await SqliteStore.open(path);
  assertEquals((await again.getMany([["a"]]))[0]?.value, 1);
});

onFile("SqliteStore says that a file is damaged, whichever way it is read", async (path) => {
  const store = await SqliteStore.open(path);
  const keys = Array.from({ length: 2_000 }, (_, index) => `key ${index}`);
  await store.commit(keys.map((key) => put(key, new Uint8Array(200))));
  await store.close();
  const whole = await contentOf(path);
  const says = "the file is damaged; restore it from a copy";
  await Deno.writeFile(path, whole.subarray(0, whole.length / 2));
  await assertRejects(
    () => SqliteStore.open(path),
    StoreFormatError,
    `Cannot open the store ${path}: ${says}`,
  );
  assertEquals((await contentOf(path)).length, whole.length / 2);
  for (let page = 10; page * 4096 < whole.length; page++) whole.fill(0x5a, page * 4096, page * 4096 + 64);
  await Deno.writeFile(path, whole);
  await using broken = await SqliteStore.open(path);
  const read = await assertRejects(() => broken.getMany(keys.map((key) => [key])), StoreFormatError, says);
  assertEquals(read.message, `Cannot read the store ${path}: ${says}`);
  assertEquals((read.cause as Error).message, "database disk image is malformed");
  await assertRejects(() => Array.fromAsync(broken.list([])), StoreFormatError, says);
  const changes = keys.map((key) => put(key, 1));
  await assertRejects(
    () => broken.commit(changes),
    StoreFormatError,
    `Cannot write to the store ${path}: ${says}`,
  );
});

onFile("SqliteStore says that bytes of a record are damaged", async (path) => {
  const store = await SqliteStore.open(path);
  await store.commit([put("a", 1), put("b", 2)]);
  await store.close();
  change(
    path,
    "UPDATE kv SET value = x'00112233' WHERE key = x'6100'; UPDATE kv SET key = x'62' WHERE key = x'6200'",
  );
  await using broken = await SqliteStore.open(path);
  await assertRejects(() => broken.getMany([["a"]]), StoreFormatError, "Cannot read a value of the store");
  await broken.commit([{ type: "delete", key: ["a"] }]);
  await assertRejects(
    () => Array.fromAsync(broken.list([])),
    StoreFormatError,
    "Cannot read a key of the store",
  );
});

onFile("SqliteStore says that its count of commits is gone, and writes nothing", async (path) => {
  await (await SqliteStore.open(path)).close();
  change(path, "DELETE FROM kv");
  await using store = await SqliteStore.open(path);
  await assertRejects(() => store.commit([put("a", 1)]), StoreFormatError, "its count of commits is gone");
  assertEquals(await Array.fromAsync(store.list([])), []);
});

onFile(
  "SqliteStore says that another process writes for too long, and goes on when it has ended",
  async (path) => {
    await using store = await SqliteStore.open(path, { patience: 0 });
    using other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const error = await assertRejects(() => store.commit([put("a", 1)]), StoreInUseError);
    assertEquals(
      error.message,
      `Cannot write to the store ${path}: another process has locked it for too long; end that process`,
    );
    assertEquals([error.code, error.owner, error.until], ["STORE_IN_USE", undefined, undefined]);
    assertEquals(await store.getMany([["a"]]), [undefined]); // who only reads does not wait
    other.exec("ROLLBACK");
    assert(await store.commit([put("a", 2)]));
  },
);

onFile("SqliteStore is not opened while another process is making it, but afterwards", async (path) => {
  await (await SqliteStore.open(path)).close();
  change(path, "PRAGMA journal_mode = DELETE"); // that far, and no log yet
  using other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const open = () => SqliteStore.over(new DatabaseSync(path, { timeout: 0 }));
  await assertRejects(open, StoreInUseError, "another process has locked it");
  other.exec("COMMIT");
  await using store = await open();
  assert(await store.commit([put("a", 1)]));
});

onFile("SqliteStore has nothing of a commit that SQLite has given up in the middle", async (path) => {
  const database = new DatabaseSync(path);
  await using store = await SqliteStore.over(database);
  await store.commit([put("a", 1)]);
  database.exec(`PRAGMA max_page_count = ${Number(pragma(database, "page_count")) + 20}`);
  const changes = [put("a", 2), put("b", 2), put("large", new Uint8Array(200_000)), put("c", 2)];
  for (let time = 0; time < 2; time++) {
    await assertRejects(() => store.commit(changes), StoreFullError, "there is no room left");
    assert(!database.isTransaction);
    assertEquals((await Array.fromAsync(store.list([]))).map(({ value }) => value), [1]);
  }
  assert(await store.commit([put("a", 3)]));
});

onFile("SqliteStore reads what it can't write", async (path) => {
  const store = await SqliteStore.open(path);
  await store.commit([put("a", 1)]);
  await using reader = await SqliteStore.over(new DatabaseSync(path, { readOnly: true }));
  assertEquals((await reader.getMany([["a"]]))[0]?.value, 1);
  await store.commit([put("a", 2)]);
  assertEquals((await reader.getMany([["a"]]))[0]?.value, 2);
  const [entry] = await reader.getMany([["a"]]);
  assert(await reader.commit([], [{ key: ["a"], versionstamp: entry?.versionstamp ?? null }]));
  await assertRejects(() => reader.commit([put("a", 3)]), StoreReadOnlyError, "it is read-only");
  await store.close();
});

onFile("SqliteStore says that it can't make a store where it can't write", async (path) => {
  await Deno.writeFile(path, new Uint8Array());
  const database = new DatabaseSync(path, { readOnly: true });
  await assertRejects(
    () => SqliteStore.over(database),
    StoreReadOnlyError,
    `Cannot open the store ${path}: it is read-only`,
  );
  assert(!database.isOpen);
  assertEquals((await contentOf(path)).length, 0);
});

onFile("SqliteStore says that a path can't be opened", async (_, folder) => {
  for (const path of [`${folder}/none/store.db`, folder]) {
    const error = await assertRejects(
      () => SqliteStore.open(path),
      StoreError,
      "the file can't be opened; make its folder",
    );
    assertEquals(error.code, "STORE_ERROR");
    assertInstanceOf(error.cause, Error);
  }
  await assertRejects(() => SqliteStore.open(""), ValueError, "the path is empty");
});

onFile(
  "SqliteStore counts commits on when it is opened again, so that no versionstamp comes back",
  async (path) => {
    const stamps: unknown[] = [];
    for (let time = 0; time < 3; time++) {
      await using store = await SqliteStore.open(path);
      await store.commit([put("a", 1)]);
      stamps.push((await store.getMany([["a"]]))[0]?.versionstamp);
      await store.commit([{ type: "delete", key: ["a"] }]);
    }
    assertEquals(new Set(stamps).size, 3);
  },
);

onFile(
  "SqliteStore lists large values as they are when they are given, and not those that are gone",
  async (path) => {
    await using store = await SqliteStore.open(path);
    await store.commit(["a", "b", "c"].map((part) => put(part, new Uint8Array(100_000))));
    const seen: unknown[] = [];
    for await (const { key, value } of store.list([])) {
      await store.commit([{ type: "delete", key: ["b"] }, put("c", "new")]);
      seen.push([key[0], value instanceof Uint8Array ? value.length : value]);
    }
    assertEquals(seen, [["a", 100_000], ["c", "new"]]);
  },
);

Deno.test("SqliteStore refuses what is not plain data, and writes nothing of that commit", async () => {
  await using store = await SqliteStore.open(":memory:");
  for (const value of [() => 1, { deep: [Symbol("x")] }, new WeakMap()]) {
    await assertRejects(
      () => store.commit([put("a", 1), put("b", value)]),
      ValueError,
      "it is not plain data",
    );
  }
  assertEquals(await Array.fromAsync(store.list([])), []);
});

Deno.test("SqliteStore says that it is closed", async () => {
  const store = await SqliteStore.open(":memory:");
  await store.close();
  await store.close();
  const uses = [() => store.getMany([]), () => store.commit([]), () => Array.fromAsync(store.list([]))];
  for (const use of uses) {
    await assertRejects(use, ValueError, "Cannot use the store: it is closed; open it again");
  }
});
