/**
 * The store conformance suite: values and commits that are too much for some engines, and several accounts.
 *
 * @module
 */

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { pause } from "../../base/runs.ts";
import type { Store, StoreKey, StoreMutation } from "../../../mod.ts";
import {
  listed,
  read,
  readValue,
  remove,
  set,
  someBytes,
  stampOf,
  type StoreCase,
  withStore,
} from "./store_case.ts";

const MANY = 5_000;

const manyKey = (index: number): StoreKey => ["many", String(index).padStart(5, "0")];

/** Changes of all of many keys: 3 MiB. */
function many(value: (index: number) => string): StoreMutation[] {
  return Array.from({ length: MANY }, (_, index) => set(manyKey(index), value(index).padEnd(630, ".")));
}

const firstOf = (value: unknown) => String(value).split(".")[0];

/** Of accounts and devices, each as like to another as can be; none lies below another. */
const PREFIXES: readonly StoreKey[] = [
  ["@ann:a.org", "PHONE"],
  ["@ann:a.org", "PHONE2"],
  ["@ann:a.org", "PHONE\0"],
  ["@ann:a.org", "phone"],
  ["@ann:a.org", ""],
  ["@ann:a.org\0", "PHONE"],
  ["@ann:a.orgPHONE"],
  ["@ann:a.organic", "PHONE"],
  ["@ann:a", "org", "PHONE"],
  ["", "@ann:a.org", "PHONE"],
];

const OWN: readonly StoreKey[] = [["sync"], ["room", "!r:a.org"], [
  "state",
  "!r:a.org",
  "m.room.member",
  "@ann:a.org",
]];

const below = (prefix: StoreKey) => OWN.map((key): StoreKey => [...prefix, ...key]);

async function fill(store: Store): Promise<void> {
  for (const [index, prefix] of PREFIXES.entries()) {
    ok(await store.commit(below(prefix).map((key) => set(key, index))));
  }
}

async function valuesBelow(store: Store, prefix: StoreKey): Promise<unknown[]> {
  return (await listed(store, prefix)).map(({ value }) => value);
}

/** What a store does with much, and with several accounts. */
export const largeCases: readonly StoreCase[] = [
  withStore("keeps values of any size", async (store) => {
    const sizes = [65_500, 65_519, 65_520, 65_521, 65_530, 65_536, 65_537, 131_072, 200_000, 2 ** 20];
    const key = (size: number): StoreKey => ["size", String(size).padStart(8, "0")];
    for (const size of sizes) await store.commit([set(key(size), someBytes(size, size))]);
    const found = await store.getMany(sizes.map(key));
    for (const [index, size] of sizes.entries()) {
      deepStrictEqual(found[index]?.value, someBytes(size, size), `${size} bytes`);
    }
    deepStrictEqual(await listed(store, ["size"]), found);
  }),
  withStore("keeps several large values, and small ones, of one commit", async (store) => {
    const text = "ä😀".repeat(100_000);
    await store.commit([
      set(["a"], { text, bytes: someBytes(2 ** 20) }),
      set(["b"], "small"),
      set(["c"], Array.from({ length: 20_000 }, (_, index) => ({ index }))),
      set(["c", "below"], text),
    ]);
    deepStrictEqual(await readValue(store, ["a"]), { text, bytes: someBytes(2 ** 20) });
    strictEqual(await readValue(store, ["b"]), "small");
    deepStrictEqual((await readValue(store, ["c"]) as unknown[])[19_999], { index: 19_999 });
    deepStrictEqual((await listed(store, [])).map(({ key }) => key), [["a"], ["b"], ["c"], ["c", "below"]]);
  }),
  withStore("replaces and removes large values, and checks them", async (store) => {
    const stamps: (string | null)[] = [];
    for (const value of [someBytes(300_000, 1), "small", someBytes(900_000, 2), someBytes(70_000, 3)]) {
      const check = { key: ["a"], versionstamp: await stampOf(store, ["a"]) };
      ok(await store.commit([set(["a"], value)], [check]));
      ok(!await store.commit([set(["a"], "stale")], [check]));
      ok(!await store.commit([set(["a"], someBytes(100_000))], [check]));
      deepStrictEqual(await readValue(store, ["a"]), value);
      stamps.push(await stampOf(store, ["a"]));
    }
    strictEqual(new Set(stamps).size, 4);
    await store.commit([remove(["a"])]);
    strictEqual(await read(store, ["a"]), undefined);
    deepStrictEqual(await listed(store, []), []);
  }),
  withStore("applies 5,000 changes of 3 MiB in one commit, or none", async (store) => {
    await store.commit([set(["checked"], 1)]);
    const check = { key: ["checked"], versionstamp: await stampOf(store, ["checked"]) };
    ok(!await store.commit(many(String), [{ ...check, versionstamp: null }]));
    deepStrictEqual(await listed(store, ["many"]), []);
    ok(await store.commit(many(String), [check]));
    const entries = await listed(store, ["many"]);
    deepStrictEqual(
      entries.map(({ key }) => key),
      Array.from({ length: MANY }, (_, index) => manyKey(index)),
    );
    deepStrictEqual(entries.map(({ value }) => Number(firstOf(value))), entries.map((_, index) => index));

    const removals = entries.map(({ key }) => remove(key));
    ok(!await store.commit(removals, [{ ...check, versionstamp: null }]));
    strictEqual((await listed(store, ["many"])).length, MANY);
    ok(await store.commit([...removals, set(["last"], 1)], [check]));
    deepStrictEqual((await listed(store, [])).map(({ key }) => key), [["checked"], ["last"]]);
  }),
  withStore("accepts a thousand long keys in one commit", async (store) => {
    const keys = Array.from(
      { length: 1_000 },
      (_, index): StoreKey => ["long", `${index}`.padStart(255, "k"), "x".repeat(255)],
    );
    ok(await store.commit(keys.map((key) => set(key, 1))));
    strictEqual((await listed(store, ["long"])).length, 1_000);
    ok(await store.commit(keys.map(remove)));
    deepStrictEqual(await listed(store, []), []);
  }),
  withStore("shows all or nothing of a large commit to concurrent readers", async (store) => {
    await store.commit(many(() => "0"));
    let writing = true;
    const writer = (async () => {
      for (const round of ["1", "2", "3"]) await store.commit(many(() => round));
      writing = false;
    })();
    while (writing) {
      const found = await store.getMany([manyKey(0), manyKey(1_000), manyKey(2_500), manyKey(MANY - 1)]);
      const seen = new Set(found.map((entry) => firstOf(entry?.value)));
      strictEqual(seen.size, 1, `half a commit: ${[...seen]}`);
      await pause();
    }
    await writer;
    deepStrictEqual(
      (await listed(store, ["many"])).map(({ value }) => firstOf(value)),
      Array(MANY).fill("3"),
    );
  }),
  withStore(
    "applies concurrent large and small commits in the order in which they were begun",
    async (store) => {
      const commits = [
        store.commit([set(["a"], 1), set(["b"], someBytes(2 ** 20))]),
        store.commit([set(["a"], 2), set(["b"], 2)]),
        store.commit(many(() => "first")),
        store.commit([set(manyKey(7), "alone."), remove(["a"])]),
        store.commit([set(["c"], someBytes(100_000))]),
        store.commit([remove(["c"])]),
      ];
      deepStrictEqual(await Promise.all(commits), commits.map(() => true));
      deepStrictEqual((await store.getMany([["a"], ["b"], ["c"]])).map((entry) => entry?.value), [
        undefined,
        2,
        undefined,
      ]);
      strictEqual(firstOf(await readValue(store, manyKey(7))), "alone");
      strictEqual(firstOf(await readValue(store, manyKey(8))), "first");
    },
  ),
  withStore("applies one of several concurrent large commits with the same check", async (store) => {
    const check = { key: ["turn"], versionstamp: null };
    const held = await Promise.all(
      ["0", "1", "2"].map((who) => store.commit([set(["turn"], who), ...many(() => who)], [check])),
    );
    strictEqual(held.filter(Boolean).length, 1);
    const winner = String(held.findIndex(Boolean));
    strictEqual(await readValue(store, ["turn"]), winner);
    const seen = new Set((await listed(store, ["many"])).map(({ value }) => firstOf(value)));
    deepStrictEqual([...seen], [winner]);
  }),
  withStore("shows each account the keys below its prefix, and none of similar accounts", async (store) => {
    await fill(store);
    for (const [index, prefix] of PREFIXES.entries()) {
      const entries = await listed(store, prefix);
      deepStrictEqual(entries.map(({ value }) => value), [index, index, index]);
      deepStrictEqual(
        new Set(entries.map(({ key }) => JSON.stringify(key))),
        new Set(below(prefix).map((key) => JSON.stringify(key))),
      );
      deepStrictEqual(await valuesBelow(store, [...prefix, "room"]), [index]);
    }
  }),
  withStore("changes the keys of an account, and none of its neighbours", async (store) => {
    await fill(store);
    for (const [index, prefix] of PREFIXES.entries()) {
      const others = PREFIXES.filter((each) => each !== prefix);
      const before = await Promise.all(others.map((each) => listed(store, each)));
      ok(await store.commit(below(prefix).map(remove)));
      ok(await store.commit(below(prefix).map((key) => set(key, "anew"))));
      deepStrictEqual(await valuesBelow(store, prefix), ["anew", "anew", "anew"]);
      deepStrictEqual(await Promise.all(others.map((each) => listed(store, each))), before);
      ok(await store.commit(below(prefix).map((key) => set(key, index))));
    }
  }),
  withStore("checks the key of an account, whatever its neighbours write", async (store) => {
    await fill(store);
    for (const prefix of PREFIXES) {
      const [key = []] = below(prefix);
      const check = { key, versionstamp: await stampOf(store, key) };
      const others = PREFIXES.filter((each) => each !== prefix).flatMap(below);
      ok(await store.commit(others.map((other) => set(other, "theirs"))));
      ok(await store.commit([set(key, "mine")], [check]));
      ok(!await store.commit([set(key, "stale")], [check]));
      strictEqual(await readValue(store, key), "mine");
    }
  }),
];
