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
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { contest } from "./appservice/contest.ts";

const registration = createRegistration({
  id: "bench",
  url: "http://bench.example",
  serverName: "localhost",
});
const TRANSACTIONS = 2_000;
const USERS = 10_000;
/** How many events transactions have that are sent over loopback. */
const SIZES = [1, 20];

/** Answers whatever an application service asks. */
const answering: typeof fetch = (input) => {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const body = pathname.includes("/send/") ? { event_id: "$sent" } : { room_id: "!room:localhost" };
  return Promise.resolve(Response.json(body));
};

function made(store: Store): Appservice {
  return new Appservice({
    registration,
    serverName: "localhost",
    baseUrl: "http://localhost",
    fetch: answering,
    store,
    log: false,
  });
}

let events = 0;

/** Transactions a second. */
async function speed(store: Store, perTransaction: number): Promise<number> {
  await using appservice = made(store);
  let handled = 0;
  const all = Promise.withResolvers<void>();
  appservice.on("m.room.message", () => {
    if (++handled === TRANSACTIONS * perTransaction) all.resolve();
  });
  const done = appservice.start({ ping: false });
  const start = performance.now();
  for (let id = 0; id < TRANSACTIONS; id++) {
    const body = {
      events: Array.from({ length: perTransaction }, () => ({
        type: "m.room.message",
        event_id: `$${++events}:localhost`,
        room_id: `!room${events % 100}:localhost`,
        sender: "@alice:localhost",
        origin_server_ts: 1,
        content: { msgtype: "m.text", body: "hello" },
      })),
    };
    const response = await appservice.fetch(
      new Request(`http://bench.example/_matrix/app/v1/transactions/${events}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${registration.hs_token}` },
        body: JSON.stringify(body),
      }),
    );
    if (response.status !== 200) throw new Error(`Cannot measure: it answered ${response.status}`);
  }
  await all.promise;
  const seconds = (performance.now() - start) / 1_000;
  await appservice.stop();
  await done;
  return TRANSACTIONS / seconds;
}

/** What users cost that have acted: kilobytes each, and microseconds for what each of them sends. */
async function users(): Promise<{ readonly kilobytes: number; readonly microseconds: number }> {
  await using appservice = made(new MemoryStore());
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new Error("Cannot measure memory: run with --v8-flags=--expose-gc");
  const heap = (): number => {
    gc();
    return Deno.memoryUsage().heapUsed;
  };
  const before = heap();
  const start = performance.now();
  for (let user = 0; user < USERS; user++) {
    await appservice.intent(`_bench_${user}`).sendText("!room:localhost", "hello");
  }
  const microseconds = (performance.now() - start) * 1_000 / USERS;
  const kilobytes = (heap() - before) / 1_000 / USERS;
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
