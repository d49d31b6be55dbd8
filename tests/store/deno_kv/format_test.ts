import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { StoreError, StoreFormatError, StoreReadOnlyError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";
import { formatKey, journalKey } from "../../../src/store/deno_kv/database.ts";
import { storeErrorOf } from "../../../src/store/deno_kv/local_database.ts";
import { encodeSet } from "../../../src/store/deno_kv/values.ts";
import { encodeValue } from "../../../src/store/base/mod.ts";
import { watchedKv } from "../support/watched_kv.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

async function all(kv: Deno.Kv) {
  return await Array.fromAsync(kv.list({ prefix: [] }), ({ key, value }) => [key, value]);
}

Deno.test("KvStore notes its format in a database in which nothing is", async () => {
  using kv = await Deno.openKv(":memory:");
  await KvStore.over(watchedKv(kv, {}));
  assertEquals(await all(kv), [[formatKey, bytes("1")]]);
});

Deno.test("KvStore takes a database that was written before the format was noted, and notes it", async () => {
  using kv = await Deno.openKv(":memory:");
  for (const { key, record } of encodeSet(["a"], 1).writes) await kv.set(key, record);
  await kv.set(journalKey, encodeValue(null));
  const store = await KvStore.over(watchedKv(kv, {}));
  assertEquals((await store.getMany([["a"]]))[0]?.value, 1);
  assertEquals((await kv.get(formatKey)).value, bytes("1"));
});

Deno.test("KvStore refuses a newer format, and what others have below its prefix, and leaves it as it is", async () => {
  const foreign: [Deno.KvKey, unknown, string][] = [
    [formatKey, bytes("2"), "has format 2, and this version of Greenroom reads format 1"],
    [formatKey, bytes("25"), "has format 25"],
    [formatKey, 1, "was not written by Greenroom"],
    [formatKey, bytes("one"), "was not written by Greenroom"],
    [formatKey, bytes(""), "was not written by Greenroom"],
    [["greenroom", "users", "me"], bytes("1"), "was not written by Greenroom"],
    [["greenroom", 7], bytes("1"), "was not written by Greenroom"],
    [["greenroom", "value", "a"], { mine: true }, "was not written by Greenroom"],
  ];
  for (const [key, value, says] of foreign) {
    using kv = await Deno.openKv(":memory:");
    await kv.set(key, value);
    const before = await all(kv);
    await assertRejects(() => KvStore.over(watchedKv(kv, {})), StoreFormatError, says);
    assertEquals(await all(kv), before);
  }
});

for (
  const [name, sql, mine] of [["its own file", "PRAGMA user_version = 1", true], [
    "another application's",
    "CREATE TABLE theirs (a)",
    false,
  ]] as const
) {
  Deno.test(`KvStore ${mine ? "opens" : "refuses"} ${name} that a crash has left with a rollback journal`, async () => {
    const folder = await Deno.makeTempDir();
    using database = new DatabaseSync(`${folder}/crashed.db`);
    // More than the cache takes: what was there before is in the journal, and the file changed.
    database.exec(
      `${sql}; PRAGMA cache_size = 1; BEGIN; CREATE TABLE more (a); INSERT INTO more VALUES (randomblob(100000))`,
    );
    for (const end of ["", "-journal"]) {
      await Deno.copyFile(`${folder}/crashed.db${end}`, `${folder}/store.db${end}`);
    }
    const open = () => KvStore.open(`${folder}/store.db`);
    if (mine) {
      await using store = await open();
      assert(await store.commit([{ type: "set", key: ["a"], value: 1 }]));
    } else await assertRejects(open, StoreFormatError, "something else than a database of Deno KV");
    database.exec("ROLLBACK");
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("KvStore can be opened for the first time by several processes together", async () => {
  using kv = await Deno.openKv(":memory:");
  const open = () => KvStore.over(watchedKv(kv, {}));
  for (const store of await Promise.all([open(), open(), open()])) assert(await store.commit([]));
  assertEquals(await all(kv), [[formatKey, bytes("1")]]);
});

Deno.test("KvStore accepts a database whose format another process writes while it opens", async () => {
  using kv = await Deno.openKv(":memory:");
  let looks = 0;
  const another = watchedKv(kv, {
    beforeStep: async () => void (looks++ === 0 && await KvStore.over(watchedKv(kv, {}))),
  });
  assert(await (await KvStore.over(another)).commit([]));
  assertEquals([looks > 0, await all(kv)], [true, [[formatKey, bytes("1")]]]);
});

Deno.test("KvStore refuses files that are not databases of Deno KV, and leaves them as they are", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/some.txt`;
    for (const text of ["short", "something else than a database\n".repeat(300), "SQLite format 3\0 or so"]) {
      await Deno.writeTextFile(path, text);
      const error = await assertRejects(() => KvStore.open(path), StoreFormatError);
      assertEquals(error.code, "STORE_FORMAT");
      assertEquals(await Deno.readTextFile(path), text);
      assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), ["some.txt"]);
    }
    await assertRejects(() => KvStore.open(folder), StoreFormatError, "is something else");
    const nowhere = await assertRejects(() => KvStore.open(`${folder}/none/kv.db`), StoreError);
    assertEquals(nowhere.code, "STORE_ERROR");
    await Deno.writeTextFile(path, "");
    await using store = await KvStore.open(path); // empty is new
    assert(await store.commit([{ type: "set", key: ["a"], value: 1 }]));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("Errors of Deno KV become errors that say what to do; unknown ones stay as they are", () => {
  const codes = {
    "file is not a database": "STORE_FORMAT",
    "database disk image is malformed": "STORE_FORMAT",
    "table kv already exists in": "STORE_FORMAT",
    "attempt to write a readonly database": "STORE_READ_ONLY",
    "Can not write to a read-only database.": "STORE_READ_ONLY",
    "database or disk is full": "STORE_FULL",
    "disk I/O error": "STORE_ERROR",
    "database is locked": "STORE_IN_USE",
    "unable to open database file: /home/read-only database/malformed/kv.db": "STORE_ERROR",
  };
  for (const [message, code] of Object.entries(codes)) {
    const cause = new TypeError(message);
    const error = storeErrorOf(cause);
    assert(error instanceof StoreError, message);
    assertEquals([error.code, error.cause], [code, cause]);
  }
  for (
    const other of [new TypeError("Value too large"), new Deno.errors.NotCapable("readonly database"), 7]
  ) {
    assertEquals(storeErrorOf(other), other);
  }
  const before = new StoreReadOnlyError("disk is full");
  assertEquals(storeErrorOf(before), before);
});
