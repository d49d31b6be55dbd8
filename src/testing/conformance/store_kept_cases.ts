/**
 * The store conformance suite: what only some stores promise.
 *
 * @module
 */

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import type { KvKey } from "../../store/base/mod.ts";
import {
  listed,
  otherWork,
  read,
  readValue,
  remove,
  set,
  someBytes,
  stampOf,
  type StoreCase,
} from "./store_case.ts";

const key = (index: number): KvKey => ["many", String(index).padStart(5, "0")];

/** What a store does that copies, outlives the process, or is open more than once. */
export const keptCases: readonly StoreCase[] = [
  {
    name: "keeps a value as it was at the commit",
    needs: "copies",
    async run(open) {
      const store = await open();
      for (const length of [10, 200_000]) {
        const value = { list: [1], bytes: someBytes(length) };
        const commit = store.commit([set(["a"], value)]);
        value.list.push(2);
        value.bytes.fill(0);
        await commit;
        deepStrictEqual(await readValue(store, ["a"]), { list: [1], bytes: someBytes(length) });
      }
    },
  },
  {
    name: "gives each reader a value of its own",
    needs: "copies",
    async run(open) {
      const store = await open();
      await store.commit([set(["a"], { list: [1], bytes: someBytes(9) })]);
      const value = await readValue(store, ["a"]) as { list: number[]; bytes: Uint8Array };
      value.list.push(2);
      value.bytes.fill(0);
      deepStrictEqual(await readValue(store, ["a"]), { list: [1], bytes: someBytes(9) });
    },
  },
  {
    name: "has everything when it is opened again",
    needs: "durable",
    async run(open) {
      const store = await open();
      await store.commit([set(["gone"], 1), set(["small"], { a: 1 }), set(["", "\uD800"], "odd")]);
      await store.commit([set(["large"], someBytes(2 ** 20)), remove(["gone"])]);
      await store.commit(Array.from({ length: 3_000 }, (_, index) => set(key(index), index)));
      const before = await listed(store, []);
      await store.close();

      const again = await open();
      deepStrictEqual(await listed(again, []), before);
      const check = { key: ["small"], versionstamp: await stampOf(again, ["small"]) };
      ok(await again.commit([set(["small"], 2), set(["large"], 2)], [check]));
      ok(!await again.commit([set(["small"], 3)], [check]));
      await again.close();

      const last = await open();
      deepStrictEqual((await last.getMany([["small"], ["large"]])).map((entry) => entry?.value), [2, 2]);
    },
  },
  {
    name: "closes after operations that have begun, also when called several times",
    needs: "durable",
    async run(open) {
      const store = await open();
      const commits = [
        store.commit([set(["a"], 1)]),
        store.commit([set(["b"], someBytes(2 ** 20))]),
        store.commit([set(["c"], 1)]),
      ];
      await Promise.all([store.close(), store.close()]);
      deepStrictEqual(await Promise.all(commits), [true, true, true]);
      const again = await open();
      strictEqual((await listed(again, [])).length, 3);
    },
  },
  {
    name: "shows the commits of one store to another on the same place",
    needs: "shared",
    async run(open) {
      const [first, second] = [await open(), await open()];
      await first.commit([set(["a"], 1), set(["large"], someBytes(200_000, 1))]);
      strictEqual(await readValue(second, ["a"]), 1);
      deepStrictEqual(await readValue(second, ["large"]), someBytes(200_000, 1));
      const check = { key: ["a"], versionstamp: await stampOf(first, ["a"]) };
      ok(await second.commit([set(["a"], 2), set(["large"], "small")], [check]));
      ok(!await first.commit([set(["a"], 3)], [check]));
      deepStrictEqual((await listed(first, [])).map(({ value }) => value), [2, "small"]);
      await first.commit([remove(["large"])]);
      strictEqual(await read(second, ["large"]), undefined);
    },
  },
  {
    name: "keeps large commits of several stores on the same place apart",
    needs: "shared",
    async run(open) {
      const stores = [await open(), await open(), await open()];
      const write = async (who: number): Promise<void> => {
        for (let round = 0; round < 3; round++) {
          const changes = Array.from({ length: 1_500 }, (_, index) => set(key(index), `${who}/${round}`));
          await stores[who]?.commit([...changes, set(["by", String(who), String(round)], 1)]);
        }
      };
      let writing = true;
      const writers = Promise.all([write(0), write(1)]).finally(() => writing = false);
      while (writing) {
        const [first, middle, last] = await stores[2]?.getMany([key(0), key(1_000), key(1_499)]) ?? [];
        deepStrictEqual([middle?.value, last?.value], [first?.value, first?.value]);
        await otherWork();
      }
      await writers;
      strictEqual((await listed(await open(), ["by"])).length, 6);
      const seen = new Set((await listed(await open(), ["many"])).map(({ value }) => value));
      strictEqual(seen.size, 1);
    },
  },
];
