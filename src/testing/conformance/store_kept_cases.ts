/**
 * The store conformance suite: what only some stores promise, and what places do that are spoiled.
 *
 * @module
 */

import { deepStrictEqual, fail, ok, rejects, strictEqual } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import { pause } from "../../base/runs.ts";
import type { Store, StoreEntry, StoreKey, StoreMutation } from "../../../mod.ts";
import {
  listed,
  read,
  readValue,
  remove,
  set,
  someBytes,
  stampOf,
  type StoreCase,
  type StoreProblem,
  withStore,
} from "./store_case.ts";

const key = (index: number): StoreKey => ["many", String(index).padStart(5, "0")];

/** So many commits of a quarter of a megabyte must fill any place that is full. */
const MAX_FILLS = 400;

const fillKey = (round: number): StoreKey => ["fill", String(round).padStart(3, "0")];

const FILLINGS = Array.from({ length: 8 }, (_, index) => someBytes(32_000, index));

function filling(round: number): StoreMutation[] {
  return FILLINGS.map((bytes, index) => set([...fillKey(round), String(index)], bytes));
}

/** Fails without the difference, which would be long. */
function expectSame(found: unknown, expected: unknown): void {
  ok(isDeepStrictEqual(found, expected), "what is there is not what was there");
}

/** Puts something into a place, and gives what is there. */
async function furnish(open: () => Promise<Store>): Promise<StoreEntry[]> {
  const store = await open();
  const many = Array.from({ length: 300 }, (_, index) => set(["many", String(index)], someBytes(300, index)));
  ok(await store.commit([...many, set(["large"], someBytes(200_000)), set(["small"], 1)]));
  const entries = await listed(store, []);
  await store.close();
  return entries;
}

/** The place is there as it was, and can be written. */
async function expectMended(open: () => Promise<Store>, entries: readonly StoreEntry[]): Promise<void> {
  const store = await open();
  expectSame(await listed(store, []), entries);
  ok(await store.commit([set(["mended"], 1)]));
  strictEqual((await listed(store, [])).length, entries.length + 1);
}

/** Commits until one is refused, and gives how many were not. */
async function fillUp(store: Store): Promise<{ readonly rounds: number; readonly error: unknown }> {
  for (let rounds = 0; rounds < MAX_FILLS; rounds++) {
    try {
      ok(await store.commit(filling(rounds)));
    } catch (error) {
      return { rounds, error };
    }
  }
  fail(`the place is not full after ${MAX_FILLS} commits`);
}

function refusesToOpen(problem: StoreProblem, name: string): StoreCase {
  return {
    name,
    needs: problem,
    async run(open, scene) {
      const entries = problem === "foreign" ? [] : await furnish(open);
      const spoiled = await scene.spoil(problem);
      const content = await scene.content();
      for (let time = 0; time < 2; time++) {
        await rejects(async () => await listed(await spoiled.open(), []), spoiled.error);
        expectSame(await scene.content(), content);
      }
      if (spoiled.mend === undefined) return;
      await spoiled.mend();
      await expectMended(open, entries);
    },
  };
}

/** What a store does that copies, outlives the process, is open more than once, or has a spoiled place. */
export const keptCases: readonly StoreCase[] = [
  withStore("keeps a value as it was at the commit", async (store) => {
    for (const length of [10, 200_000]) {
      const value = { list: [1], bytes: someBytes(length) };
      const commit = store.commit([set(["a"], value)]);
      value.list.push(2);
      value.bytes.fill(0);
      await commit;
      deepStrictEqual(await readValue(store, ["a"]), { list: [1], bytes: someBytes(length) });
    }
  }, "copies"),
  withStore("gives each reader a value of its own", async (store) => {
    await store.commit([set(["a"], { list: [1], bytes: someBytes(9) })]);
    const value = await readValue(store, ["a"]) as { list: number[]; bytes: Uint8Array };
    value.list.push(2);
    value.bytes.fill(0);
    deepStrictEqual(await readValue(store, ["a"]), { list: [1], bytes: someBytes(9) });
  }, "copies"),
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
        await pause();
      }
      await writers;
      strictEqual((await listed(await open(), ["by"])).length, 6);
      const seen = new Set((await listed(await open(), ["many"])).map(({ value }) => value));
      strictEqual(seen.size, 1);
    },
  },
  {
    name:
      "says that there is no room, has nothing of the commit that did not fit, and goes on when there is room",
    needs: "full",
    async run(open, scene) {
      const entries = await furnish(open);
      const spoiled = await scene.spoil("full");
      const store = await spoiled.open();
      const { rounds, error } = await fillUp(store);
      ok(error instanceof spoiled.error, `another error: ${error}`);
      await rejects(() => store.commit(filling(rounds)), spoiled.error);
      strictEqual((await listed(store, fillKey(rounds))).length, 0);
      strictEqual((await listed(store, [])).length, entries.length + 8 * rounds);
      expectSame(await store.getMany(entries.map(({ key }) => key)), entries);

      if (spoiled.mend === undefined) return;
      await spoiled.mend();
      ok(await store.commit(filling(rounds)));
      await store.close();
      const again = await open();
      strictEqual((await listed(again, ["fill"])).length, 8 * (rounds + 1));
      expectSame(await again.getMany(entries.map(({ key }) => key)), entries);
    },
  },
  {
    name: "refuses a place that can't be written, and leaves it as it is",
    needs: "readOnly",
    async run(open, scene) {
      const entries = await furnish(open);
      const spoiled = await scene.spoil("readOnly");
      const content = await scene.content();
      await rejects(async () => {
        const store = await spoiled.open(); // or here
        try {
          expectSame(await listed(store, []), entries);
          await rejects(() => store.commit([set(["a"], 1)]), spoiled.error);
          expectSame(await listed(store, []), entries);
          await store.commit(filling(0));
        } finally {
          await store.close();
        }
      }, spoiled.error);
      expectSame(await scene.content(), content);
      await spoiled.mend?.();
      await expectMended(open, entries);
    },
  },
  refusesToOpen("corrupted", "says that what is there is damaged, and leaves it as it is"),
  refusesToOpen("foreign", "says that what is there is something else, and leaves it as it is"),
  refusesToOpen("newer", "says that what is there is of a newer version, and leaves it as it is"),
];
