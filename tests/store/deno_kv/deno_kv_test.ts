import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { StoreError, StoreFormatError, StoreInUseError, ValueError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";
import { LocalDatabase } from "../../../src/store/deno_kv/local_database.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { valueKey } from "../../../src/store/deno_kv/database.ts";
import { type KvWatch, recordCounts, watchedKv } from "../support/watched_kv.ts";
import { large, many, set, valueOf } from "../support/records.ts";

Deno.test("KvStore makes one atomic operation of a commit, and reads nothing for it", async () => {
  using kv = await Deno.openKv(":memory:");
  const did: string[] = [];
  const watch: KvWatch = {
    beforeCommit: () => void did.push("commit"),
    beforeRead: () => void did.push("read"),
  };
  const store = await KvStore.over(watchedKv(kv, watch));
  did.length = 0;
  for (let round = 0; round < 3; round++) {
    assert(await store.commit(Array.from({ length: 900 }, (_, index) => set(["a", String(index)], round))));
    assertEquals(did.splice(0), ["commit"]);
  }
  assert(await store.commit([{ type: "delete", key: ["a", "1"] }], [{ key: ["b"], versionstamp: null }]));
  assertEquals(did.splice(0), ["commit"]);
  assert(await store.commit([]));
  assertEquals(did.splice(0), []);
  assert(await store.commit([set(["large"], large(1, 300_000))]));
  assertEquals(did.splice(0), ["commit"]); // a value in parts too, if all of them fit
  await store.getMany([["a", "2"], ["b"]]);
  assertEquals(did.splice(0), ["read"]);
  assert(await store.commit(many(1))); // what is put down first is not read for being carried out
  assertEquals(new Set(did), new Set(["commit"]));
});

Deno.test("KvStore writes what takes several commits in the order of the keys, whatever order it comes in", async () => {
  using kv = await Deno.openKv(":memory:");
  const written: Deno.KvKey[] = [];
  const store = await KvStore.over(watchedKv(kv, { onSet: (key) => void written.push(key) }));
  const numbers = Array.from({ length: 1_500 }, (_, index) => String(index * 7919 % 1_500).padStart(4, "0"));
  await store.commit(numbers.flatMap((number) => [set(["room", number], 1), set(["state", number], 1)]));
  const values = written.filter(([, kind]) => kind === "value");
  assertEquals(values, values.toSorted((some, other) => String(some) < String(other) ? -1 : 1));
  assertEquals(values.length, 3_000);
});

Deno.test("KvStore leaves no part behind of large values that are replaced or removed", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  await store.commit([set(["a"], large(1)), set(["b"], large(1, 2 ** 20)), set(["c"], large(1))]);
  assertEquals(await recordCounts(kv), { value: 3, part: 21, parts: 3, journal: 1 });
  await store.commit([set(["a"], large(2)), set(["b"], "small"), { type: "delete", key: ["c"] }]);
  assertEquals(await recordCounts(kv), { value: 2, part: 2, parts: 1, journal: 1 });
  await store.commit([set(["a"], large(3)), set(["a"], large(4)), set(["b"], large(4)), set(["b"], 1)]);
  assertEquals(await recordCounts(kv), { value: 2, part: 2, parts: 1, journal: 1 });
  await Promise.all([store.commit([set(["a"], large(5))]), store.commit([set(["a"], 6)])]);
  assertEquals(await recordCounts(kv), { value: 2, journal: 1 });
  assertEquals(await valueOf(store, ["a"]), 6);
});

Deno.test("KvStore removes parts when it opens that another has left behind, and no others", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  const other = await KvStore.over(watchedKv(kv, {}));
  await other.commit([set(["a"], large(1)), set(["kept"], large(2)), set(["read"], large(3))]);
  await store.getMany([["read"]]);
  // Of the one it has not read, it does not know the parts.
  await store.commit([set(["a"], 1), set(["read"], 1)]);
  assertEquals(await recordCounts(kv), { value: 3, part: 4, parts: 2 });
  const opened = await KvStore.over(watchedKv(kv, {}));
  assertEquals((await recordCounts(kv)).part, 2);
  assertEquals(await valueOf(opened, ["kept"]), large(2));
});

Deno.test("KvStore removes no parts of a value that another store is about to write", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  await store.commit([set(["a"], large(1))]);
  const { value } = await kv.get(valueKey(["a"]));
  await kv.delete(valueKey(["a"]));
  const watch: KvWatch = { beforeCommit: async () => void await kv.set(valueKey(["a"]), value) };
  const opened = await KvStore.over(watchedKv(kv, watch)); // has seen parts without their value
  assertEquals(await valueOf(opened, ["a"]), large(1));
});

Deno.test("KvStore refuses a key that is too long by name, and takes one that is just not", async () => {
  await using store = await KvStore.open(":memory:");
  // For the parts, each of which takes two more.
  const room = 2048 - 2 - "greenroom".length - 2 - "value".length;
  const longest = [["x".repeat(room - 2)], ["\0".repeat((room - 2) / 2)], [
    "ä".repeat(100),
    "x".repeat(room - 204),
  ]];
  for (const key of longest) {
    assert(await store.commit([set(key, key)]));
    assertEquals(await valueOf(store, key), key);
    assertEquals(await Array.fromAsync(store.list(key)), []);
    const tooLong = [...key.slice(0, -1), `${key.at(-1)}yy`];
    await assertRejects(
      () => store.commit([set(["a"], 1), set(tooLong, 1)]),
      ValueError,
      "Cannot use a key of",
    );
    await assertRejects(
      () => store.commit([set(["a"], 1)], [{ key: tooLong, versionstamp: null }]),
      ValueError,
    );
    await assertRejects(() => store.getMany([["a"], tooLong]), ValueError);
    await assertRejects(() => Array.fromAsync(store.list(tooLong)), ValueError);
  }
  assertEquals(await valueOf(store, ["a"]), undefined);
});

Deno.test("KvStore takes every key that it does not refuse", async () => {
  await using store = await KvStore.open(":memory:");
  using kv = await Deno.openKv(":memory:");
  const unit = fc.constantFrom("\0", "a", "é", "€", "😀", "\uD800", "\uDFFF", "\uE000", "\uFFFF");
  const part = fc.tuple(fc.array(unit, { maxLength: 5 }), fc.integer({ min: 1, max: 400 }))
    .map(([units, times]) => units.join("").repeat(times));
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (key) => {
      let physical: Deno.KvKey;
      try {
        physical = valueKey(key);
      } catch (error) {
        assert(error instanceof ValueError);
        return;
      }
      await kv.set(physical, 1);
      await store.commit([set(key, key)]);
      assertEquals((await store.getMany([key]))[0]?.key, key);
      const below = await Array.fromAsync(store.list(key.slice(0, -1)));
      assert(below.some((entry) => JSON.stringify(entry.value) === JSON.stringify(key)));
    }),
    { numRuns: 200 },
  );
});

Deno.test("KvStore refuses what is not plain data, and writes nothing of that commit", async () => {
  await using store = await KvStore.open(":memory:");
  for (const value of [() => 1, { deep: [Symbol("x")] }, new WeakMap(), Promise.resolve()]) {
    const error = await assertRejects(() => store.commit([set(["a"], 1), set(["b"], value)]), ValueError);
    assertEquals(
      error.message,
      "Cannot store a value: it is not plain data; leave out functions and the like",
    );
  }
  assertEquals(await Array.fromAsync(store.list([])), []);
});

Deno.test("KvStore says that it is closed", async () => {
  const store = await KvStore.open(":memory:");
  await store.close();
  await store.close();
  for (
    const use of [() => store.getMany([["a"]]), () => store.commit([]), () => Array.fromAsync(store.list([]))]
  ) {
    await assertRejects(use, ValueError, "Cannot use the store: it is closed");
  }
});

Deno.test("KvStore says that Deno KV is missing", async () => {
  const script = new URL("../support/without_kv.ts", import.meta.url).pathname;
  const config = new URL("../support/without_kv.json", import.meta.url).pathname;
  const args = ["run", "--no-check", "--quiet", "--no-lock", `--config=${config}`, script];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert(
    said.includes("ValueError: Cannot open the store: Deno KV is not enabled; start Deno with --unstable-kv"),
    said,
  );
});

Deno.test("KvStore keeps to its own part of a database", async () => {
  using kv = await Deno.openKv(":memory:");
  await kv.set(["value", "mine"], 1);
  await kv.set(["greenroom!"], 2);
  const store = await KvStore.over(watchedKv(kv, {}));
  await store.commit([set(["value", "mine"], "other"), ...many(1)]);
  assertEquals((await Array.fromAsync(store.list([]))).length, 1_101);
  assertEquals([(await kv.get(["value", "mine"])).value, (await kv.get(["greenroom!"])).value], [1, 2]);
});

Deno.test("KvStore does not take a record for what it is not", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  for (const foreign of ["text", new Uint8Array(), new Uint8Array([7, 1, 2])]) {
    await kv.set(valueKey(["a"]), foreign);
    await assertRejects(() => store.getMany([["a"]]), StoreFormatError, "its format is unknown");
  }
});

Deno.test("KvStore says that a part of a value is missing", async () => {
  using kv = await Deno.openKv(":memory:");
  const store = await KvStore.over(watchedKv(kv, {}));
  await store.commit([set(["a"], large(1))]);
  for await (const { key } of kv.list({ prefix: ["greenroom", "part"] })) {
    if (key[3] === 1) await kv.delete(key);
  }
  await assertRejects(() => store.getMany([["a"]]), StoreFormatError, "a part of it is missing");
});

Deno.test("KvStore tries again when another process is writing to the file", async () => {
  using kv = await Deno.openKv(":memory:");
  let times = 3;
  const beforeCommit = () => {
    if (times-- > 0) throw new TypeError("database is locked");
  };
  const store = await KvStore.over(watchedKv(kv, {}));
  assert(await store.commit([set(["a"], 1)]));
  const blocked = await KvStore.over(
    watchedKv(kv, { beforeCommit: () => times % 2 > 0 ? beforeCommit() : void times-- }),
  );
  assert(await blocked.commit([set(["a"], 2)], [{ key: ["b"], versionstamp: null }]));
  assertEquals(await valueOf(store, ["a"]), 2);
  const failing = { beforeCommit: () => Promise.reject(new TypeError("disk I/O error")) };
  const broken = await KvStore.over(watchedKv(kv, failing));
  await assertRejects(
    () => broken.commit([set(["a"], 3)]),
    StoreError,
    "look at the path, the rights, and the disk",
  );
});

Deno.test("A local database that is locked is waited for, and then it is said which process is in the way", async () => {
  using kv = await Deno.openKv(":memory:");
  let isLocked = false;
  const locked = <Result>(work: () => Promise<Result>) =>
    isLocked ? Promise.reject(new TypeError("database is locked")) : work();
  const of = (target: Deno.Kv, names: readonly string[]) =>
    new Proxy(target, {
      get(kv, name: keyof Deno.Kv) {
        const value = kv[name];
        if (typeof value !== "function") return value;
        const call = (...given: unknown[]) => Reflect.apply(value, kv, given);
        return names.includes(String(name)) ? (...given: unknown[]) => locked(() => call(...given)) : call;
      },
    });
  const waiting = of(kv, ["getMany", "delete"]);
  const clock = new TestClock();
  const database = new LocalDatabase(
    new Proxy(waiting, {
      get(target, name: keyof Deno.Kv) {
        if (name !== "atomic") return Reflect.get(target, name);
        return () => {
          const operation = kv.atomic();
          const commit = operation.commit.bind(operation);
          return Object.assign(operation, { commit: () => locked(commit) });
        };
      },
    }),
    { clock, file: "bot.db" },
  );
  const key = ["greenroom", "value", "a"];
  isLocked = true;
  const commit = database.commit([{ key, versionstamp: null }], [{ key, record: new Uint8Array([1]) }]);
  const read = database.getMany([key]);
  for (let second = 0; second < 8; second++) await clock.tick(1_000);
  isLocked = false;
  await clock.tick(1_000);
  assert(await commit !== undefined);
  assertEquals((await read).length, 1);
  isLocked = true;
  const late = assertRejects(() => database.getMany([key]), StoreInUseError, "the database bot.db: another");
  for (let second = 0; second < 31; second++) await clock.tick(1_000);
  await late;
});

Deno.test("KvStore commits while others with the same file open do", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const stores = await Promise.all([1, 2, 3].map(() => KvStore.open(`${folder}/store.db`)));
    const increment = async (store: KvStore): Promise<void> => {
      for (let left = 40; left > 0;) {
        const [entry] = await store.getMany([["count"]]);
        const check = { key: ["count"], versionstamp: entry?.versionstamp ?? null };
        if (await store.commit([set(["count"], Number(entry?.value ?? 0) + 1)], [check])) left--;
      }
    };
    await Promise.all(stores.map(increment));
    for (const store of stores) assertEquals(await valueOf(store, ["count"]), 120);
    for (const store of stores) await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
