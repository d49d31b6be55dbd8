/**
 * The store conformance suite: entries, keys, values and their order.
 *
 * @module
 */

import { deepStrictEqual, notStrictEqual, ok, strictEqual } from "node:assert";
import type { StoreKey, StoreListOptions } from "../../../mod.ts";
import { listed, read, readValue, remove, set, someBytes, type StoreCase, withStore } from "./store_case.ts";

/** In the order of their code points. */
const ODD_PARTS = [
  "",
  "\0",
  "\0\0",
  "\0a",
  " ",
  "__proto__",
  "a",
  "a\0",
  "a\0b",
  "ab",
  "constructor",
  "\x7F",
  "\x80",
  "ä",
  "\u07FF",
  "\u0800",
  "\uD7FF",
  "\uD800", // halves of pairs, alone
  "\uD800a",
  "\uDBFF",
  "\uDC00",
  "\uDC00\uD800",
  "\uDFFF",
  "\uE000",
  "\uE000\0",
  "\uE000a",
  "\uE000\uFFFF",
  "\uE001",
  "\uFFFD",
  "\uFFFF",
  "😀",
  "😀a",
  "😁",
  "\u{10FFFF}",
];

/** In the order in which {@link Store.list} gives them. */
const NESTED: readonly StoreKey[] = [
  ["", ""],
  ["", "", "a"],
  ["", "a"],
  ["a"],
  ["a", ""],
  ["a", "", "b"],
  ["a", "b"],
  ["a", "b", "c"],
  ["a", "c"],
  ["a\0"],
  ["a\0", "b"],
  ["a\0b"],
  ["ab"],
  ["ab", "a"],
  ["b"],
];

const keysBelow = (prefix: StoreKey) =>
  NESTED.filter((key) => key.length > prefix.length && prefix.every((part, index) => key[index] === part));

const PLAIN_VALUES: readonly unknown[] = [
  null,
  undefined,
  false,
  0,
  -0,
  NaN,
  Infinity,
  2 ** 53,
  12n ** 40n,
  "",
  "ä\0😀\uD800",
  new Date(1_700_000_000_000),
  [],
  [1, [2, [undefined, null]]],
  { a: { b: { c: [] } }, "": 1 },
  new Map<unknown, unknown>([["a", new Set([1, "b"])], [1, { x: 1 }]]),
  new Uint8Array(),
  someBytes(300),
  { bytes: someBytes(7), more: [someBytes(3)] },
];

/** What a store does with entries. */
export const entryCases: readonly StoreCase[] = [
  withStore("has nothing at first", async (store) => {
    deepStrictEqual(await store.getMany([["a"], [""], []]), [undefined, undefined, undefined]);
    deepStrictEqual(await store.getMany([]), []);
    deepStrictEqual(await listed(store, []), []);
  }),
  withStore("puts values, replaces them and removes them", async (store) => {
    ok(await store.commit([set(["a"], 1), set(["b"], 1)]));
    const first = await read(store, ["a"]);
    deepStrictEqual([first?.key, first?.value], [["a"], 1]);
    await store.commit([set(["a"], 2)]);
    const second = await read(store, ["a"]);
    strictEqual(second?.value, 2);
    notStrictEqual(second?.versionstamp, first?.versionstamp);
    ok(await store.commit([remove(["a"]), remove(["never"])]));
    deepStrictEqual(await store.getMany([["a"], ["never"]]), [undefined, undefined]);
    strictEqual(await readValue(store, ["b"]), 1);
  }),
  withStore("applies the changes of a commit in their order", async (store) => {
    await store.commit([
      set(["a"], 1),
      remove(["a"]),
      set(["b"], 1),
      remove(["c"]),
      set(["c"], 1),
      set(["b"], 2),
    ]);
    deepStrictEqual((await listed(store, [])).map(({ key, value }) => [key, value]), [[["b"], 2], [
      ["c"],
      1,
    ]]);
  }),
  withStore("accepts a commit without changes", async (store) => {
    ok(await store.commit([]));
    deepStrictEqual(await listed(store, []), []);
  }),
  withStore("reads many keys in one call, each as often as it is given", async (store) => {
    const keys = Array.from({ length: 95 }, (_, index): StoreKey => ["n", String(index)]);
    await store.commit(keys.filter((_, index) => index % 3 > 0).map((key) => set(key, key[1])));
    const asked = [...keys, ...keys.slice(20, 40)];
    const found = await store.getMany(asked);
    deepStrictEqual(
      found.map((entry) => entry?.value),
      asked.map(([, index]) => Number(index) % 3 > 0 ? index : undefined),
    );
  }),
  withStore("lists the keys below a prefix, not at it, in order", async (store) => {
    await store.commit(NESTED.toReversed().map((key) => set(key, key.join("/"))));
    for (
      const prefix of [[], [""], ["", ""], ["a"], ["a", ""], ["a", "b"], ["a\0"], ["ab"], ["b"], ["x"]]
    ) {
      const expected = keysBelow(prefix).map((key) => [key, key.join("/")]);
      deepStrictEqual((await listed(store, prefix)).map(({ key, value }) => [key, value]), expected);
    }
    const entries = await listed(store, []);
    deepStrictEqual(await store.getMany(NESTED), entries);
  }),
  withStore("lists the keys after a key, present or not, up to a limit", async (store) => {
    await store.commit(NESTED.map((key) => set(key, key.join("/"))));
    for (const prefix of [[], [""], ["a"], ["a", "b"]]) {
      const below = keysBelow(prefix);
      const page = async (options: StoreListOptions) =>
        (await Array.fromAsync(store.list(prefix, options))).map(({ key }) => key);
      for (const [index, after] of below.entries()) {
        deepStrictEqual(await page({ after }), below.slice(index + 1));
        deepStrictEqual(await page({ after, limit: 2 }), below.slice(index + 1, index + 3));
      }
      for (const limit of [0, 1, below.length, below.length + 1]) {
        deepStrictEqual(await page({ limit }), below.slice(0, limit));
      }
      const [first] = below;
      if (first === undefined) continue;
      await store.commit([remove(first)]);
      deepStrictEqual(await page({ after: first }), below.slice(1));
      await store.commit([set(first, first.join("/"))]);
    }
  }),
  withStore("keeps odd parts of keys apart, and in the order of their code points", async (store) => {
    await store.commit(ODD_PARTS.toReversed().map((part) => set(["odd", part], part)));
    deepStrictEqual(
      (await listed(store, ["odd"])).map(({ key, value }) => [key[1], value]),
      ODD_PARTS.map((part) => [part, part]),
    );
    for (const part of ODD_PARTS) {
      await store.commit([set([part, "x"], part), set(["x", part, part], part)]);
    }
    for (const part of ODD_PARTS) {
      deepStrictEqual((await listed(store, [part])).map(({ value }) => value), [part]);
      deepStrictEqual((await listed(store, ["x", part])).map(({ key }) => key), [["x", part, part]]);
      strictEqual(await readValue(store, ["odd", part]), part);
    }
  }),
  withStore("keeps a value under the key without parts", async (store) => {
    await store.commit([set([], "root"), set([""], "empty")]);
    strictEqual(await readValue(store, []), "root");
    deepStrictEqual((await listed(store, [])).map(({ value }) => value), ["empty"]);
    await store.commit([remove([])]);
    strictEqual(await read(store, []), undefined);
    strictEqual(await readValue(store, [""]), "empty");
  }),
  withStore("accepts keys of five parts of 255 bytes", async (store) => {
    const key = Array.from("abcde", (letter) => letter.repeat(253) + "ä");
    await store.commit([set(key, "long"), set(key.slice(0, 4), "shorter")]);
    deepStrictEqual((await listed(store, key.slice(0, 4))).map(({ value }) => value), ["long"]);
    deepStrictEqual((await store.getMany([key, key.slice(0, 4)])).map((entry) => entry?.value), [
      "long",
      "shorter",
    ]);
  }),
  withStore("returns plain data as it was", async (store) => {
    const keys = PLAIN_VALUES.map((_, index): StoreKey => ["v", String(index).padStart(3, "0")]);
    await store.commit(PLAIN_VALUES.map((value, index) => set(keys[index] ?? [], value)));
    const found = await store.getMany(keys);
    deepStrictEqual(found.map((entry) => entry?.value), PLAIN_VALUES);
    deepStrictEqual((await listed(store, ["v"])).map(({ value }) => value), PLAIN_VALUES);
    notStrictEqual(found[1], undefined); // that value is undefined, but it is there
  }),
  withStore("keeps only the part of a buffer that bytes refer to", async (store) => {
    const bytes = someBytes(200_000);
    await store.commit([
      set(["top"], bytes.subarray(5, 15)),
      set(["in"], { bytes: bytes.subarray(100, 103) }),
    ]);
    deepStrictEqual(await readValue(store, ["top"]), bytes.slice(5, 15));
    deepStrictEqual(await readValue(store, ["in"]), { bytes: bytes.slice(100, 103) });
  }),
  withStore("lists while it is written", async (store) => {
    const key = (index: number): StoreKey => ["n", String(index).padStart(4, "0")];
    await store.commit(Array.from({ length: 400 }, (_, index) => set(key(index), index)));
    const seen: number[] = [];
    for await (const { value } of store.list(["n"])) {
      seen.push(Number(value));
      if (seen.length % 50 === 0) await store.commit([set(["n", ""], -1), remove(key(399 - seen.length))]);
    }
    deepStrictEqual(seen, seen.toSorted((first, second) => first - second));
    strictEqual(new Set(seen).size, seen.length);
    deepStrictEqual(seen.slice(0, 100), Array.from({ length: 100 }, (_, index) => index));
  }),
];
