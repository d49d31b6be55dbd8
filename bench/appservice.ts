/**
 * What an application service costs: `deno run -A --v8-flags=--expose-gc bench/appservice.ts`.
 *
 * Over loopback: transactions a second, beside other makes on the same input. In the process:
 * transactions a second, from the request to the handler's end, with each kind of store; and the
 * memory of 10,000 users that have acted. The homeserver is in the process, or answers nothing, so
 * that no network is in it.
 *
 * @module
 */

import { MemoryStore, type Store } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { contest } from "./appservice/contest.ts";
import { act, madeAppservice, transact } from "./appservice/in_process.ts";
import { memoryInUse } from "./support/process.ts";

const TRANSACTIONS = 2_000;
const USERS = 10_000;
/** How many events transactions have that are sent over loopback. */
const SIZES = [1, 20];

/** Transactions a second. */
async function speed(store: Store, perTransaction: number): Promise<number> {
  await using appservice = madeAppservice(store);
  const start = performance.now();
  await transact(appservice, { transactions: TRANSACTIONS, perTransaction });
  return TRANSACTIONS * 1_000 / (performance.now() - start);
}

/** What users cost that have acted: kilobytes each, and microseconds for what each of them sends. */
async function users(): Promise<{ readonly kilobytes: number; readonly microseconds: number }> {
  await using appservice = madeAppservice(new MemoryStore());
  const before = memoryInUse().heap;
  const start = performance.now();
  await act(appservice, USERS);
  const microseconds = (performance.now() - start) * 1_000 / USERS;
  const kilobytes = (memoryInUse().heap - before) / 1_000 / USERS;
  return { kilobytes, microseconds };
}

const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
const stores: [string, () => Store | Promise<Store>][] = [
  ["memory", () => new MemoryStore()],
  ["SQLite", () => SqliteStore.open(`${folder}/bench.db`)],
  ["Deno KV", () => KvStore.open(`${folder}/bench.kv`)],
];
for (const [name, open] of stores) {
  for (const perTransaction of [1, 20]) {
    const store = await open();
    const rate = await speed(store, perTransaction);
    await store.close();
    console.log(`${name}, ${perTransaction} a transaction: ${Math.round(rate)} transactions/s`);
  }
}
const { kilobytes, microseconds } = await users();
console.log(`${USERS} users that have sent: ${kilobytes.toFixed(1)} kB each`);
console.log(`register, join and send: ${Math.round(microseconds)} us each, without a network`);
const rates = await contest({ transactions: 1_000, sizes: SIZES, rounds: 5, folder });
const [own] = rates;
for (const { name, rates: each } of rates) {
  const shown = each.map((rate, index) => {
    const share = (rate / (own?.rates[index] ?? NaN)).toFixed(2);
    return `${SIZES[index]} a transaction: ${Math.round(rate)}/s (${share})`;
  });
  console.log(`${name}: ${shown.join(", ")}`);
}
await Deno.remove(folder, { recursive: true });
