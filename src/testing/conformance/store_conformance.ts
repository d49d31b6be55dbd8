/**
 * What every store must do.
 *
 * @module
 */

import type { Store } from "../../../mod.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { SpoiledStore, StoreCase, StoreProblem, StoreScene } from "./store_case.ts";
import { checkCases } from "./store_check_cases.ts";
import { entryCases } from "./store_entry_cases.ts";
import { keptCases } from "./store_kept_cases.ts";
import { largeCases } from "./store_large_cases.ts";

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
