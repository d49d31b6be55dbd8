/** One step: what it reads, what it asks the vault for, and what is remembered of it. */

import { assertEquals, assertRejects } from "@std/assert";
import { RecentMap } from "../../../src/base/recent_map.ts";
import {
  type RecordCache,
  type RecordKey,
  recordKey,
  Transaction,
  type Vault,
} from "../../../src/crypto/records/transaction.ts";
import { memoryVault } from "../support/vault.ts";

const ONE = recordKey<string>("kind", "one");
const TWO = recordKey<string>("kind", "two");
const KEPT = { ...recordKey<string>("kind", "kept"), held: true };

/** A vault that tells what is asked of it, what was read before, and steps on both. */
async function stage(records: Readonly<Record<string, string>> = {}) {
  const vault = memoryVault();
  for (const [name, value] of Object.entries(records)) {
    await vault.commit([{ type: "set", key: recordKey("kind", name).path, value }]);
  }
  const calls: string[] = [];
  const told: Vault = {
    ...vault,
    getMany: (keys) => (calls.push(`read ${keys.map((key) => key.at(-1)).join()}`), vault.getMany(keys)),
    commit: (mutations) => (calls.push(`commit ${mutations.length}`), vault.commit(mutations)),
    defer: (mutations) => (calls.push(`defer ${mutations.length}`), vault.defer(mutations)),
  };
  const cache: RecordCache = new RecentMap(100);
  return { calls, begin: () => new Transaction(told, cache) };
}

Deno.test("a step reads its own writes without the vault, and not what it has removed", async () => {
  const { calls, begin } = await stage({ one: "1", two: "2" });
  const tx = begin();
  tx.set(ONE, "new");
  tx.delete(TWO);
  assertEquals([await tx.get(ONE), await tx.get(TWO)], ["new", undefined]);
  assertEquals(await tx.getMany([ONE, TWO]), ["new", undefined]);
  assertEquals(calls, []);
});

Deno.test("only unknown records are read, in one read, and cached, missing ones too", async () => {
  const { calls, begin } = await stage({ one: "1", two: "2" });
  assertEquals(await begin().get(ONE), "1");
  const none = recordKey<string>("kind", "none");
  for (let time = 0; time < 2; time++) {
    assertEquals(await begin().getMany([none, ONE, TWO]), [undefined, "1", "2"]);
    assertEquals(await begin().get(none), undefined);
  }
  assertEquals(calls, ["read one", "read none,two"]);
});

Deno.test("what was known stays so when what is read with it fills the cache", async () => {
  const names = Array.from({ length: 300 }, (_, index) => `name${index}`);
  const { begin } = await stage(Object.fromEntries(names.map((name) => [name, name])));
  const keys = names.map((name) => recordKey<string>("kind", name));
  await begin().getMany(keys.slice(0, 20));
  assertEquals(await begin().getMany(keys), names);
});

Deno.test("more records than are remembered are read all the same", async () => {
  const names = Array.from({ length: 300 }, (_, index) => `name${index}`);
  const { begin } = await stage(Object.fromEntries(names.map((name) => [name, name])));
  assertEquals(await begin().getMany(names.map((name) => recordKey<string>("kind", name))), names);
});

Deno.test("a step's changes are cached once they are committed, removals too, except records that their owner keeps", async () => {
  const { calls, begin } = await stage({ two: "2" });
  const tx = begin();
  tx.set(ONE, "1");
  tx.set(KEPT, "kept");
  tx.delete(TWO);
  assertEquals([tx.changes, tx.removals], [3, { kind: 1 }]);
  await tx.commit();
  assertEquals(await begin().getMany([ONE, TWO, KEPT]), ["1", undefined, "kept"]);
  assertEquals(calls, ["commit 3", "read kept"]);
});

Deno.test("a step that has written nothing commits nothing; one that may wait is deferred", async () => {
  const { calls, begin } = await stage();
  let done = 0;
  for (const deferred of [false, true]) {
    const idle = begin();
    idle.onCommit(() => done++);
    await idle.commit({ deferred });
    const tx = begin();
    tx.set(ONE, "1");
    await tx.commit({ deferred });
  }
  assertEquals([calls, done], [["commit 1", "defer 1"], 2]);
});

Deno.test("records that are declared absent are not read; known ones stay", async () => {
  const { calls, begin } = await stage({ one: "1" });
  assertEquals(await begin().get(ONE), "1");
  begin().absent(ONE);
  begin().absent(TWO);
  assertEquals(await begin().getMany([ONE, TWO]), ["1", undefined]);
  assertEquals(calls, ["read one"]);
});

Deno.test("records of a kind are given page by page, each after the last of the one before", async () => {
  const { begin } = await stage({ one: "1", two: "2", three: "3" });
  const names = async (limit: number, after?: RecordKey<string>) =>
    (await begin().page<string>({ limit, after }, "kind")).map(([[name]]) => name);
  assertEquals([await names(2), await names(5)], [["one", "three"], ["one", "three", "two"]]);
  assertEquals([await names(1, ONE), await names(5, TWO)], [["three"], []]);
});

Deno.test("a step that comes to nothing is taken back in reverse order, and nothing of it is remembered", async () => {
  const { begin } = await stage({ one: "1" });
  const tx = begin();
  const done: number[] = [];
  for (const number of [1, 2]) tx.onAbort(() => done.push(number));
  tx.set(ONE, "never");
  tx.abort();
  assertEquals([done, await begin().get(ONE)], [[2, 1], "1"]);
});

Deno.test("nothing is remembered of a step that could not be written", async () => {
  const vault = memoryVault();
  const cache: RecordCache = new RecentMap(10);
  const full = { ...vault, commit: () => Promise.reject(new TypeError("The disk is full")) };
  const tx = new Transaction(full, cache);
  tx.set(ONE, "never");
  await assertRejects(() => tx.commit(), TypeError, "The disk is full");
  assertEquals(await new Transaction(vault, cache).get(ONE), undefined);
});

Deno.test("a record that passes is read once in a step, and kept only if it is in use", async () => {
  const { calls, begin } = await stage({ one: "1", two: "2" });
  const [one, two] = [ONE, TWO].map((key) => ({ ...key, passing: true }));
  if (one === undefined || two === undefined) throw new TypeError("Both are there");
  assertEquals(await begin().get(ONE), "1"); // which is in use
  const tx = begin();
  assertEquals(await tx.getMany([one, two]), ["1", "2"]);
  assertEquals(await tx.get(two), "2");
  for (const key of [one, two]) tx.set(key, "new");
  assertEquals(await tx.get(two), "new");
  await tx.commit();
  assertEquals(await begin().getMany([ONE, TWO]), ["new", "new"]);
  assertEquals(calls, ["read one", "read two", "commit 2", "read two"]);
});

Deno.test("a record that passes is not kept when it is written without being read", async () => {
  const { calls, begin } = await stage({});
  const tx = begin();
  tx.set({ ...ONE, passing: true }, "1");
  await tx.commit();
  assertEquals(await begin().get(ONE), "1");
  assertEquals(calls, ["commit 1", "read one"]);
});
