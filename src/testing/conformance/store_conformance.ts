/**
 * What every store must do: also checks, commits side by side, several who have the same place open, and
 * locks.
 *
 * Over 300 lines because checks are cases without a file of their own.
 *
 * @module
 */

import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert";
import type { Store, StoreCheck, StoreKey, StoreLock } from "../../../mod.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import {
  countUp,
  listed,
  readValue,
  remove,
  set,
  type SpoiledStore,
  stampOf,
  type StoreCase,
  type StoreProblem,
  type StoreScene,
  takeTurn,
  withStore,
} from "./store_case.ts";
import { entryCases } from "./store_entry_cases.ts";
import { keptCases } from "./store_kept_cases.ts";
import { largeCases } from "./store_large_cases.ts";

async function checkOf(store: Store, key: StoreKey): Promise<StoreCheck> {
  return { key, versionstamp: await stampOf(store, key) };
}

const RIVALS = 3;
const TURNS = 12;
const RIVAL_COUNTS = 15;

async function opened(open: () => Promise<Store>): Promise<Store[]> {
  const stores: Store[] = [];
  for (let index = 0; index < RIVALS; index++) stores.push(await open());
  return stores;
}

const KEYS: readonly StoreKey[] = [["@bot:example.org", "DEVICE"], ["@bot:example.org"], [], [
  "",
  "../\0",
  "\uD800",
]];

/** Takes a lock that is free. */
async function locked(store: Store, key: StoreKey): Promise<StoreLock> {
  const lock = await store.lock?.(key);
  ok(lock !== undefined, `the lock of ${JSON.stringify(key)} is not to be had`);
  return lock;
}

/** What a store does with checks, with commits side by side, and with locks. */
const checkCases: readonly StoreCase[] = [
  withStore("applies nothing when one of the checks does not hold", async (store) => {
    await store.commit([set(["a"], 1), set(["other"], 1)]);
    const before = await listed(store, []);
    const changes = [set(["a"], 2), set(["b"], 2), remove(["other"])];
    const holds = await checkOf(store, ["a"]);
    const wrong: StoreCheck[] = [
      { key: ["a"], versionstamp: null },
      { key: ["a"], versionstamp: "" },
      { key: ["a"], versionstamp: "none" },
      { key: ["a"], versionstamp: `${holds.versionstamp}0` },
      { key: ["a"], versionstamp: "f".repeat(20) },
      { key: ["b"], versionstamp: holds.versionstamp },
    ];
    for (const check of wrong) {
      ok(!await store.commit(changes, [check]));
      ok(!await store.commit(changes, [holds, check]));
      ok(!await store.commit(changes, [check, holds]));
    }
    deepStrictEqual(await listed(store, []), before);
    ok(await store.commit(changes, [holds, { key: ["b"], versionstamp: null }]));
    deepStrictEqual((await listed(store, [])).map(({ value }) => value), [2, 2]);
  }),
  withStore(
    "refuses values that it can't keep whether or not the checks hold, and applies nothing",
    async (store) => {
      const bad = [set(["a"], 1), set(["b"], { is: () => "no data" })];
      const wrong: StoreCheck = { key: ["a"], versionstamp: "none" };
      const refuses = await store.commit(bad).then(() => false, () => true);
      if (!refuses) return; // it keeps objects as they are
      deepStrictEqual(await listed(store, []), []);
      await rejects(store.commit(bad, [wrong]));
      deepStrictEqual(await listed(store, []), []);
      ok(!await store.commit([set(["a"], 1)], [wrong]));
    },
  ),
  withStore("checks without changing anything", async (store) => {
    await store.commit([set(["a"], 1)]);
    const check = await checkOf(store, ["a"]);
    ok(await store.commit([], [check]));
    ok(!await store.commit([], [{ key: ["a"], versionstamp: null }]));
    deepStrictEqual(await checkOf(store, ["a"]), check);
  }),
  withStore("never gives a versionstamp twice to a key", async (store) => {
    const stamps: (string | null)[] = [];
    for (let round = 0; round < 5; round++) {
      await store.commit([set(["a"], "same")]);
      stamps.push(await stampOf(store, ["a"]));
      await store.commit([remove(["a"])]);
    }
    strictEqual(new Set(stamps).size, stamps.length);
    await store.commit([set(["a"], "same")]);
    for (const versionstamp of stamps) {
      ok(!await store.commit([set(["a"], "stale")], [{ key: ["a"], versionstamp }]));
    }
  }),
  withStore("checks three hundred keys in one commit", async (store) => {
    const keys = Array.from({ length: 300 }, (_, index): StoreKey => ["checked", String(index)]);
    await store.commit(keys.slice(0, 200).map((key) => set(key, 1)));
    const stamps = await store.getMany(keys);
    const checks = keys.map((key, index) => ({ key, versionstamp: stamps[index]?.versionstamp ?? null }));
    for (const wrong of [0, 99, 150, 250, 299]) {
      const changed = checks.with(wrong, { key: keys[wrong] ?? [], versionstamp: "0".repeat(20) });
      ok(!await store.commit([set(["x"], wrong)], changed));
    }
    strictEqual(await readValue(store, ["x"]), undefined);
    ok(await store.commit([set(["x"], "held"), set(["checked", "299"], 1)], checks));
    strictEqual(await readValue(store, ["x"]), "held");
    ok(!await store.commit([set(["x"], "again")], checks));
  }),
  withStore("applies concurrent commits in the order in which they were begun", async (store) => {
    const commits = Array.from(
      { length: 40 },
      (_, index) => store.commit([set(["a"], index), set(["b"], index)]),
    );
    deepStrictEqual(await Promise.all(commits), commits.map(() => true));
    deepStrictEqual((await store.getMany([["a"], ["b"]])).map((entry) => entry?.value), [39, 39]);
  }),
  withStore("applies one of several concurrent commits with the same check", async (store) => {
    for (let round = 0; round < 10; round++) {
      const check = await checkOf(store, ["turn"]);
      const tries = Array.from(
        { length: 8 },
        (_, index) =>
          store.commit([set(["turn"], index), set(["who", String(round), String(index)], 1)], [check]),
      );
      const held = await Promise.all(tries);
      strictEqual(held.filter(Boolean).length, 1);
      strictEqual(await readValue(store, ["turn"]), held.findIndex(Boolean));
      strictEqual((await listed(store, ["who", String(round)])).length, 1);
    }
  }),
  withStore("counts right when many read, check and write again", async (store) => {
    const increment = async (): Promise<void> => {
      for (;;) {
        const [entry] = await store.getMany([["count"]]);
        const check = { key: ["count"], versionstamp: entry?.versionstamp ?? null };
        if (await store.commit([set(["count"], Number(entry?.value ?? 0) + 1)], [check])) return;
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    strictEqual(await readValue(store, ["count"]), 20);
  }),
  {
    name: "applies one commit of each round of several stores on one place",
    needs: "shared",
    async run(open) {
      const stores = await opened(open);
      for (let turn = 0; turn < TURNS; turn++) {
        const tries = stores.flatMap((store, who) =>
          [0, 1].map((hand) => takeTurn(store, turn, `${who}/${hand}`))
        );
        const won = await Promise.all(tries);
        strictEqual(won.filter(Boolean).length, 1);
        const winner = won.findIndex(Boolean);
        for (const store of stores) {
          strictEqual(await readValue(store, ["turn", String(turn)]), `${winner >> 1}/${winner & 1}`);
        }
      }
      strictEqual((await listed(await open(), ["turn"])).length, TURNS);
    },
  },
  {
    name: "counts right when several stores that are open on one place read, check and write again",
    needs: "shared",
    async run(open) {
      const stores = await opened(open);
      await Promise.all(
        stores.flatMap((store) => [countUp(store, RIVAL_COUNTS), countUp(store, RIVAL_COUNTS)]),
      );
      for (const store of stores) strictEqual(await readValue(store, ["count"]), 2 * RIVALS * RIVAL_COUNTS);
    },
  },
  withStore(
    "gives the lock of each key to one at a time, and to the next when it is released",
    async (store) => {
      const locks = await Promise.all(KEYS.map((key) => locked(store, key)));
      for (const key of KEYS) strictEqual(await store.lock?.(key), undefined);
      locks[0]?.release();
      const again = await locked(store, KEYS[0] ?? []);
      locks[0]?.release(); // of no effect by now
      strictEqual(await store.lock?.(KEYS[0] ?? []), undefined);
      for (const lock of [again, ...locks]) lock.release();
    },
    "locks",
  ),
  withStore("keeps the last content of a lock, and changes no value for it", async (store) => {
    const texts = ["", "a longer text than the next one", "ä"];
    for (const [index, text] of texts.entries()) {
      const lock = await locked(store, ["device"]);
      strictEqual(lock.left, texts[index - 1] ?? "");
      await lock.leave("not the last");
      await lock.leave(text);
      lock.release();
    }
    deepStrictEqual(await listed(store, []), []);
  }, "locks"),
];

/** Makes something be wrong with a place, in which no store is open. */
export type SpoilStore = (place: string) => SpoiledStore | Promise<SpoiledStore>;

/** How to make something be wrong with a place. What is left out is not tested. */
export interface SpoilOptions {
  /** Lets the place have room for what is in it, and a little more: less than 100 MB. */
  full?: SpoilStore;
  /** Lets the place, in which something is, be read but not written. */
  readOnly?: SpoilStore;
  /** Damages what is in the place, so that not all of it can be read any more. */
  corrupted?: SpoilStore;
  /** Puts something into the place, in which nothing is, that is not a store. */
  foreign?: SpoilStore;
  /** Lets what is in the place be of a version that is yet to come. */
  newer?: SpoilStore;
}

/** What a store promises beside the interface, and how its tests are defined. */
export interface StoreConformanceOptions {
  /** What was written is there when the same place is opened again. False by default. */
  durable?: boolean;
  /** A place can be open more than once. False by default. */
  shared?: boolean;
  /** It has {@link Store.lock | locks}. False by default. */
  locks?: boolean;
  /** Values are copied, so that changing one afterwards changes nothing. False by default. */
  copies?: boolean;
  /**
   * What can be made wrong with a place: the store must say so, and leave the place as it is. By
   * default, nothing.
   */
  spoil?: SpoilOptions;
  /**
   * Gives what a place holds, in which no store is open, like the bytes of a file, to be compared
   * before and after. By default, nothing is compared.
   */
  contentOf?: (place: string) => unknown;
  /** Is called with each place when its test has ended. By default, nothing is done. */
  cleanUp?: (place: string) => void | Promise<void>;
  /** Defines a test: by default, `Deno.test`. */
  define?: (name: string, run: () => Promise<void>) => void;
}

const OPTIONS: OptionNames<StoreConformanceOptions> = {
  ...{ durable: true, shared: true, locks: true, copies: true },
  ...{ spoil: true, contentOf: true, cleanUp: true, define: true },
};
const SPOIL: OptionNames<SpoilOptions> = {
  ...{ full: true, readOnly: true, corrupted: true, foreign: true, newer: true },
};

const ALL_CASES: readonly StoreCase[] = [...entryCases, ...checkCases, ...largeCases, ...keptCases];

/**
 * Defines the tests that every {@link Store} must pass: atomicity, checks, the order of keys, odd
 * keys, values of a megabyte, commits of 5,000 changes, commits side by side, accounts side by
 * side, locks, what is there after opening again, and what comes of places that are full,
 * read-only, damaged, or something else.
 *
 * `storeProcessConformance()` defines those that take other processes.
 *
 * @param name Begins the name of each test.
 * @param open Opens the store of a place. Each test has a place of its own, in which nothing is
 * yet; a place is a word that can be part of a file's name.
 * @param options What the store promises. By default, what a store in memory does.
 *
 * @example
 * ```ts
 * import { MemoryStore } from "@greenroom/matrix";
 * import { storeConformance } from "@greenroom/matrix/testing";
 *
 * const tests = new Map<string, () => Promise<void>>();
 * storeConformance("MemoryStore", () => new MemoryStore(), { define: (name, run) => tests.set(name, run) });
 * for (const run of tests.values()) await run();
 * ```
 */
export function storeConformance(
  name: string,
  open: (place: string) => Store | Promise<Store>,
  options: StoreConformanceOptions = {},
): void {
  checkOptions(options, OPTIONS, "define the tests");
  checkOptions(options.spoil, SPOIL, "define the tests", "spoil.");
  const { define = Deno.test, cleanUp, spoil = {} } = options;
  const promised: Record<string, unknown> = { ...options, ...spoil };
  const cases = ALL_CASES.filter(({ needs }) => needs === undefined || Boolean(promised[needs]));
  for (const [index, each] of cases.entries()) {
    const place = `store-${index}`;
    define(`${name} ${each.name}`, async () => {
      try {
        await runCase(each, place, open, options);
      } finally {
        await cleanUp?.(place);
      }
    });
  }
}

async function runCase(
  each: StoreCase,
  place: string,
  openPlace: (place: string) => Store | Promise<Store>,
  { spoil, contentOf }: StoreConformanceOptions,
): Promise<void> {
  const opened: Store[] = [];
  const tracked = (open: () => Store | Promise<Store>) => async () => {
    const store = await open();
    opened.push(store);
    return store;
  };
  const open = tracked(() => openPlace(place));
  const scene: StoreScene = {
    async spoil(problem: StoreProblem) {
      const spoiled = await spoil?.[problem]?.(place);
      if (spoiled === undefined) {
        throw new ValueError(`Cannot spoil a store: no ${problem} is given; give one`);
      }
      return { ...spoiled, open: spoiled.open === undefined ? open : tracked(spoiled.open) };
    },
    content: async () => await contentOf?.(place),
  };
  try {
    await each.run(open, scene);
  } finally {
    for (const store of opened) await store.close();
  }
}
