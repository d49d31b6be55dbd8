import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { MemoryStore, SealedStore, type Store } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { TestClock } from "@greenroom/matrix/testing";
import { StoreError, StoreFormatError, StoreInUseError, ValueError } from "@greenroom/matrix/errors";

// As JavaScript lets pass.
// deno-lint-ignore no-explicit-any
type Any = any;

/** Runs a test in a folder of its own. */
function inFolder(name: string, run: (folder: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await run(folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

async function assertWorks(store: Store): Promise<void> {
  await store.commit([{ type: "set", key: ["a"], value: 1 }]);
  const [entry] = await store.getMany([["a"]]);
  assertEquals(entry?.value, 1);
  await store.close();
}

inFolder("A store that is made with `new` is as one that was opened", async (folder) => {
  await assertWorks(new SqliteStore(":memory:"));
  await assertWorks(new SqliteStore(new DatabaseSync(":memory:")));
  await assertWorks(new SqliteStore(`${folder}/bot.db`));
  await assertWorks(await SqliteStore.open(`${folder}/bot.db`));
  await assertWorks(new KvStore(":memory:"));
  await assertWorks(new KvStore(await Deno.openKv(":memory:")));
  await assertWorks(new KvStore(`${folder}/bot.kv`));
  await assertWorks(await KvStore.open(`${folder}/bot.kv`));
});

inFolder("A KvStore that is made with `new` opens its database with any first use", async (folder) => {
  const path = `${folder}/bot.kv`;
  await assertWorks(await KvStore.open(path));
  await using one = new KvStore(path);
  assertEquals((await Array.fromAsync(one.list([]))).length, 1);
  await using other = new KvStore(path);
  const lock = await other.lock(["a"]);
  lock?.release();
  assert(lock !== undefined);
  await using third = new KvStore(path);
  const large = new Uint8Array(1_000_000); // in many records
  const many = await Promise.all([
    third.commit([{ type: "set", key: ["b"], value: large }], [{ key: ["c"], versionstamp: null }]),
    third.commit([{ type: "delete", key: ["a"] }]),
    third.getMany([["d"]]),
  ]);
  assertEquals(many, [true, true, [undefined]]);
  await new KvStore(`${folder}/other.kv`).close();
  assert(![...Deno.readDirSync(folder)].some(({ name }) => name.startsWith("other")));
});

inFolder("A KvStore closes a database that it is opening", async (folder) => {
  const store = new KvStore(`${folder}/bot.kv`);
  const read = store.getMany([["a"]]).catch(() => {});
  await store.close();
  await read;
  await assertRejects(() => store.getMany([["a"]]), ValueError, "it is closed");
});

inFolder("A store that is made with `new` says why it can't be opened: SQLite at once", async (folder) => {
  const path = `${folder}/other.db`;
  using other = new DatabaseSync(path);
  other.exec("CREATE TABLE other (id INTEGER)");
  assertThrows(() => new SqliteStore(path), StoreFormatError, "another application's");
  assertThrows(() => new SqliteStore(`${folder}/none/bot.db`), StoreError, "make its folder");
  await using store = new KvStore(path);
  for (let time = 0; time < 2; time++) {
    await assertRejects(() => store.getMany([["a"]]), StoreFormatError, "something else");
  }
});

inFolder(
  "A SqliteStore that is made with `new` waits for another process as one that was opened",
  async (folder) => {
    const path = `${folder}/bot.db`;
    const clock = new TestClock();
    await using store = new SqliteStore(path, { clock });
    using other = new DatabaseSync(path);
    other.exec("BEGIN EXCLUSIVE");
    const begun = performance.now();
    const commit = store.commit([{ type: "delete", key: ["a"] }]);
    assert(performance.now() - begun < 1_000, "the thread stood still");
    other.exec("COMMIT");
    for (let time = 0; time < 4; time++) await clock.tick(250);
    assert(await commit);
    using fresh = new DatabaseSync(`${folder}/fresh.db`);
    fresh.exec("BEGIN EXCLUSIVE");
    assertThrows(() => new SqliteStore(`${folder}/fresh.db`, { patience: 0 }), StoreInUseError);
  },
);

inFolder("A KvStore that could not be opened tries again with the next use", async (folder) => {
  const path = `${folder}/later/bot.kv`;
  await using store = new KvStore(path);
  await assertRejects(() => store.commit([{ type: "delete", key: ["a"] }]), StoreError);
  await Deno.mkdir(`${folder}/later`);
  assertEquals(await store.getMany([["a"]]), [undefined]);
});

Deno.test("A store that is made of something else says what it needs", () => {
  const made: readonly [Any, readonly unknown[], string][] = [
    [SqliteStore, [], 'give the path of a file, ":memory:", or a DatabaseSync'],
    [SqliteStore, [""], 'the path is empty; name a file, or ":memory:"'],
    [SqliteStore, ["bot.db", { timeout: 1 }], "there is no option timeout"],
    [KvStore, [{}], "it needs a path, an address, or what Deno.openKv() resolves to"],
    [KvStore, [Deno.openKv], "it needs a path"],
    [KvStore, ["bot.db", { timeout: 1 }], "there is no option timeout"],
    [
      SealedStore,
      [new MemoryStore(), new Uint8Array(32)],
      "it has to be opened; write await SealedStore.open(inner, key)",
    ],
  ];
  for (const [Store, given, says] of made) {
    assertThrows(() => new Store(...given), ValueError, says);
  }
});

inFolder("A store that was closed before its first use takes no lock, and makes no file", async (folder) => {
  const store = new KvStore(`${folder}/store.kv`);
  await store.close();
  await assertRejects(() => store.lock(["a"]), ValueError, "closed");
  assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), []);
});

Deno.test("A patience that is no number of milliseconds is refused before anything is opened", async () => {
  for (const patience of [-1, NaN, "long"] as Any[]) {
    assertThrows(() => new KvStore(":memory:", { patience }), ValueError, "patience must be");
    await assertRejects(() => KvStore.open(":memory:", { patience }), ValueError, "patience must be");
    assertThrows(() => new SqliteStore(":memory:", { patience }), ValueError, "patience must be");
  }
});
