/**
 * The store conformance suite: several who have the same place open, in one process.
 *
 * @module
 */

import { strictEqual } from "node:assert";
import type { KvStore } from "../../store/base/mod.ts";
import { countUp, takeTurn } from "./store_job.ts";
import { listed, readValue, type StoreCase } from "./store_case.ts";

const RIVALS = 3;
const TURNS = 12;
const COUNTS = 15;

async function opened(open: () => Promise<KvStore>): Promise<KvStore[]> {
  const stores: KvStore[] = [];
  for (let index = 0; index < RIVALS; index++) stores.push(await open());
  return stores;
}

/** What stores do that are open on one place. */
export const rivalCases: readonly StoreCase[] = [
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
      await Promise.all(stores.flatMap((store) => [countUp(store, COUNTS), countUp(store, COUNTS)]));
      for (const store of stores) strictEqual(await readValue(store, ["count"]), 2 * RIVALS * COUNTS);
    },
  },
];
