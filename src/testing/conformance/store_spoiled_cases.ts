/**
 * The store conformance suite: places that something is wrong with.
 *
 * @module
 */

import { fail, ok, rejects, strictEqual } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import type { KvEntry, KvKey, KvMutation, KvStore } from "../../store/base/mod.ts";
import { listed, set, someBytes, type StoreCase, type StoreProblem } from "./store_case.ts";

/** So many commits of a quarter of a megabyte must fill any place that is full. */
const MAX_FILLS = 400;

const fillKey = (round: number): KvKey => ["fill", String(round).padStart(3, "0")];

const FILLINGS = Array.from({ length: 8 }, (_, index) => someBytes(32_000, index));

function filling(round: number): KvMutation[] {
  return FILLINGS.map((bytes, index) => set([...fillKey(round), String(index)], bytes));
}

/** Fails without the difference, which would be long. */
function expectSame(found: unknown, expected: unknown): void {
  ok(isDeepStrictEqual(found, expected), "what is there is not what was there");
}

/** Puts something into a place, and gives what is there. */
async function furnish(open: () => Promise<KvStore>): Promise<KvEntry[]> {
  const store = await open();
  const many = Array.from({ length: 300 }, (_, index) => set(["many", String(index)], someBytes(300, index)));
  ok(await store.commit([...many, set(["large"], someBytes(200_000)), set(["small"], 1)]));
  const entries = await listed(store, []);
  await store.close();
  return entries;
}

/** The place is there as it was, and can be written. */
async function expectMended(open: () => Promise<KvStore>, entries: readonly KvEntry[]): Promise<void> {
  const store = await open();
  expectSame(await listed(store, []), entries);
  ok(await store.commit([set(["mended"], 1)]));
  strictEqual((await listed(store, [])).length, entries.length + 1);
}

/** Commits until one is refused, and gives how many were not. */
async function fillUp(store: KvStore): Promise<{ readonly rounds: number; readonly error: unknown }> {
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

/** What a store does where something is wrong. */
export const spoiledCases: readonly StoreCase[] = [
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
