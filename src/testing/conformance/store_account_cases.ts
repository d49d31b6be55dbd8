/**
 * The store conformance suite: several accounts in one store.
 *
 * @module
 */

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import type { KvKey, KvStore } from "../../store/base/mod.ts";
import { listed, readValue, remove, set, stampOf, type StoreCase } from "./store_case.ts";

/** Of accounts and devices, each as like to another as can be; none lies below another. */
const PREFIXES: readonly KvKey[] = [
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

const OWN: readonly KvKey[] = [["sync"], ["room", "!r:a.org"], [
  "state",
  "!r:a.org",
  "m.room.member",
  "@ann:a.org",
]];

const below = (prefix: KvKey) => OWN.map((key): KvKey => [...prefix, ...key]);

async function fill(store: KvStore): Promise<void> {
  for (const [index, prefix] of PREFIXES.entries()) {
    ok(await store.commit(below(prefix).map((key) => set(key, index))));
  }
}

async function valuesBelow(store: KvStore, prefix: KvKey): Promise<unknown[]> {
  return (await listed(store, prefix)).map(({ value }) => value);
}

/** What a store does with accounts side by side. */
export const accountCases: readonly StoreCase[] = [
  {
    name: "shows each account the keys below its prefix, and none of similar accounts",
    async run(open) {
      const store = await open();
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
    },
  },
  {
    name: "changes the keys of an account, and none of its neighbours",
    async run(open) {
      const store = await open();
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
    },
  },
  {
    name: "checks the key of an account, whatever its neighbours write",
    async run(open) {
      const store = await open();
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
    },
  },
];
