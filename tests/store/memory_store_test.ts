import { assert, assertEquals, assertFalse, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import type { KvEntry, KvKey, KvMutation } from "../../src/store/kv_store.ts";
import { MemoryStore } from "../../src/store/memory_store.ts";

/** Few and odd parts, so that keys meet, and lie below each other. */
const key = fc.array(fc.constantFrom("", "a", "b", "__proto__", "constructor", "\0", "ä"), { maxLength: 3 });

const mutation: fc.Arbitrary<KvMutation> = fc.oneof(
  fc.record({ type: fc.constant("set" as const), key, value: fc.integer() }),
  fc.record({ type: fc.constant("delete" as const), key }),
);

async function listed(store: MemoryStore, prefix: KvKey): Promise<KvEntry[]> {
  return await Array.fromAsync(store.list(prefix));
}

function isBelow(prefix: KvKey, key: KvKey): boolean {
  return key.length > prefix.length && prefix.every((part, index) => key[index] === part);
}

function byKey(first: KvKey, second: KvKey): number {
  for (const [index, part] of first.entries()) {
    const other = second[index];
    if (other === undefined || part > other) return 1;
    if (part < other) return -1;
  }
  return first.length - second.length;
}

Deno.test("MemoryStore reads and lists what a plain map of the same commits holds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(mutation, { maxLength: 4 }), { maxLength: 12 }),
      key,
      async (commits, prefix) => {
        const store = new MemoryStore();
        const model = new Map<string, { key: KvKey; value: unknown }>();
        for (const mutations of commits) {
          assert(await store.commit(mutations));
          for (const each of mutations) {
            if (each.type === "delete") model.delete(JSON.stringify(each.key));
            else model.set(JSON.stringify(each.key), { key: each.key, value: each.value });
          }
        }
        const expected = [...model.values()].filter(({ key }) => isBelow(prefix, key))
          .sort((first, second) => byKey(first.key, second.key));
        const entries = await listed(store, prefix);
        assertEquals(entries.map(({ key, value }) => ({ key, value })), expected);

        const keys = [prefix, ...commits.flat().map(({ key }) => key)];
        const read = await store.getMany(keys);
        assertEquals(
          read.map((entry) => entry?.value),
          keys.map((each) => model.get(JSON.stringify(each))?.value),
        );
      },
    ),
  );
});

Deno.test("MemoryStore.commit() applies nothing when one of its checks does not hold", async () => {
  const store = new MemoryStore();
  await store.commit([{ type: "set", key: ["a"], value: 1 }]);
  const [entry] = await store.getMany([["a"]]);
  const change: KvMutation[] = [{ type: "set", key: ["a"], value: 2 }, { type: "delete", key: ["b"] }];

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
