/**
 * The store conformance suite: locks.
 *
 * @module
 */

import { deepStrictEqual, ok, strictEqual } from "node:assert";
import type { KvKey, KvLock, KvStore } from "../../store/base/mod.ts";
import { listed, type StoreCase } from "./store_case.ts";

const KEYS: readonly KvKey[] = [["@bot:example.org", "DEVICE"], ["@bot:example.org"], [], [
  "",
  "../\0",
  "\uD800",
]];

/** Takes a lock that is free. */
async function locked(store: KvStore, key: KvKey): Promise<KvLock> {
  const lock = await store.lock?.(key);
  ok(lock !== undefined, `the lock of ${JSON.stringify(key)} is not to be had`);
  return lock;
}

/** What locks of a store do in one process. */
export const lockCases: readonly StoreCase[] = [
  {
    name: "gives the lock of each key to one at a time, and to the next when it is released",
    needs: "locks",
    async run(open) {
      const store = await open();
      const locks = await Promise.all(KEYS.map((key) => locked(store, key)));
      for (const key of KEYS) strictEqual(await store.lock?.(key), undefined);
      locks[0]?.release();
      const again = await locked(store, KEYS[0] ?? []);
      locks[0]?.release(); // of no effect by now
      strictEqual(await store.lock?.(KEYS[0] ?? []), undefined);
      for (const lock of [again, ...locks]) lock.release();
    },
  },
  {
    name: "keeps the last content of a lock, and changes no value for it",
    needs: "locks",
    async run(open) {
      const store = await open();
      const texts = ["", "a longer text than the next one", "ä"];
      for (const [index, text] of texts.entries()) {
        const lock = await locked(store, ["device"]);
        strictEqual(lock.left, texts[index - 1] ?? "");
        await lock.leave("not the last");
        await lock.leave(text);
        lock.release();
      }
      deepStrictEqual(await listed(store, []), []);
    },
  },
];
