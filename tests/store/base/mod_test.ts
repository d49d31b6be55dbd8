import { assert, assertEquals, assertFalse, assertNotEquals } from "@std/assert";
import type { StoreEntry, StoreKey, StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";

async function listed(store: MemoryStore, prefix: StoreKey): Promise<StoreEntry[]> {
  return await Array.fromAsync(store.list(prefix));
}

Deno.test("MemoryStore.commit() applies nothing when one of its checks does not hold", async () => {
  const store = new MemoryStore();
  await store.commit([{ type: "set", key: ["a"], value: 1 }]);
  const [entry] = await store.getMany([["a"]]);
  const change: StoreMutation[] = [{ type: "set", key: ["a"], value: 2 }, { type: "delete", key: ["b"] }];

  assertFalse(await store.commit(change, [{ key: ["a"], versionstamp: null }]));
  assertFalse(await store.commit(change, [{ key: ["b"], versionstamp: "1" }]));
  const stale = { key: ["a"], versionstamp: `${entry?.versionstamp}0` };
  assertFalse(await store.commit(change, [{ key: ["b"], versionstamp: null }, stale]));
  assertEquals((await store.getMany([["a"]]))[0], entry);

  const current = { key: ["a"], versionstamp: entry?.versionstamp ?? null };
  assert(await store.commit(change, [{ key: ["b"], versionstamp: null }, current]));
  const [changed] = await store.getMany([["a"]]);
  assertEquals(changed?.value, 2);
  assertNotEquals(changed?.versionstamp, entry?.versionstamp);
});

Deno.test("MemoryStore.commit() makes changes in order, wherever they are in the tree of keys", async () => {
  const store = new MemoryStore();
  const set = (...key: string[]): StoreMutation => ({ type: "set", key, value: key.join("/") });
  const remove = (...key: string[]): StoreMutation => ({ type: "delete", key });
  await store.commit([set("a", "b", "c"), set("a", "b"), set(), set("a", "b", "d"), set("a", "x", "d")]);
  await store.commit([
    set("a", "b", "e"),
    remove("a", "b", "e"),
    remove("a", "b", "c"),
    remove("a", "b", "d"),
  ]);
  await store.commit([
    set("q", "r"),
    remove("q", "r"),
    set("q", "r", "s"),
    remove("q", "none"),
    set("q", "t"),
  ]);
  const found = (await listed(store, [])).map(({ value }) => value);
  assertEquals(found, ["a/b", "a/x/d", "q/r/s", "q/t"]);
  assertEquals((await store.getMany([[], ["a"], ["a", "b"]])).map((entry) => entry?.value), [
    "",
    undefined,
    "a/b",
  ]);
});

Deno.test("MemoryStore.list() gives what was there when the reading began", async () => {
  const store = new MemoryStore();
  await store.commit(["1", "2", "3"].map((part) => ({ type: "set", key: ["n", part], value: part })));
  const seen: unknown[] = [];
  for await (const { key, value } of store.list(["n"])) {
    await store.commit([{ type: "delete", key: ["n", "3"] }, { type: "set", key: ["n", "4"], value: "4" }]);
    seen.push([...key, value]);
  }
  assertEquals(seen, [["n", "1", "1"], ["n", "2", "2"], ["n", "3", "3"]]);
  assertEquals((await listed(store, ["n"])).map(({ value }) => value), ["1", "2", "4"]);
});

Deno.test("MemoryStore.list() orders parts by code point, not by code unit", async () => {
  const store = new MemoryStore();
  await store.commit(
    ["😀", "\uFFFF", "\uE000", "b", ""].map((part) => ({ type: "set", key: [part], value: 1 })),
  );
  assertEquals((await listed(store, [])).map(({ key }) => key[0]), ["", "b", "\uE000", "\uFFFF", "😀"]);
});
