/**
 * What every store must do.
 *
 * @module
 */

import type { KvStore } from "../store/kv_store.ts";
import type { StoreCase, StoreTrait } from "./store_case.ts";
import { checkCases } from "./store_check_cases.ts";
import { entryCases } from "./store_entry_cases.ts";
import { keptCases } from "./store_kept_cases.ts";
import { largeCases } from "./store_large_cases.ts";

/** What a store promises beside the interface, and how its tests are defined. */
export interface StoreConformanceOptions {
  /** What was written is there when the same place is opened again. False by default. */
  durable?: boolean;
  /** A place can be open more than once. False by default. */
  shared?: boolean;
  /** Values are copied, so that changing one afterwards changes nothing. False by default. */
  copies?: boolean;
  /** Is called with each place when its test has ended. By default, nothing is done. */
  cleanUp?: (place: string) => void | Promise<void>;
  /** Defines a test: by default, `Deno.test`. */
  define?: (name: string, run: () => Promise<void>) => void;
}

/**
 * Defines the tests that every {@link KvStore} must pass: atomicity, checks, the order of keys, odd keys, values of a
 * megabyte, commits of 5,000 changes, commits side by side, and what is there after opening again.
 *
 * @param name Begins the name of each test.
 * @param open Opens the store of a place. Each test has a place of its own, in which nothing is yet; a place is a word
 * that can be part of a file's name.
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
  open: (place: string) => KvStore | Promise<KvStore>,
  options: StoreConformanceOptions = {},
): void {
  const { define = Deno.test, cleanUp } = options;
  const has = (trait: StoreTrait | undefined) => trait === undefined || options[trait] === true;
  const cases = [...entryCases, ...checkCases, ...largeCases, ...keptCases].filter(({ needs }) => has(needs));
  for (const [index, each] of cases.entries()) {
    const place = `store-${index}`;
    define(`${name} ${each.name}`, async () => {
      try {
        await runCase(each, () => open(place));
      } finally {
        await cleanUp?.(place);
      }
    });
  }
}

async function runCase(each: StoreCase, open: () => KvStore | Promise<KvStore>): Promise<void> {
  const opened: KvStore[] = [];
  try {
    await each.run(async () => {
      const store = await open();
      opened.push(store);
      return store;
    });
  } finally {
    for (const store of opened) await store.close();
  }
}
