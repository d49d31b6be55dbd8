/**
 * What a commit and a reading take on a server of Deno KV, each awaited before the next:
 * `deno run -A bench/kv_stall.ts`.
 *
 * Deno's own client keeps the rest of a request of more than a kilobyte back until the server has
 * acknowledged its beginning, which takes 40 ms where the server has nothing else to send; so does
 * the server with its answers. A small reading just ahead of the request often lets the
 * acknowledgement come together, but not with large ones, and not with answers. `KvStore`
 * speaks to the server by `fetch()`.
 *
 * @module
 */

import { KvStore } from "../src/store/deno_kv/deno_kv.ts";
import { Denokv } from "../tools/denokv.ts";

const ROUNDS = 40;

/** How many values, and of how many bytes. */
const SHAPES: readonly (readonly [count: number, bytes: number])[] = [
  [1, 200],
  [1, 1_100],
  [10, 200],
  [10, 4_096],
  [100, 200],
  [12, 60_000],
];

type Actions = Record<"commit" | "read", (count: number, value: Uint8Array) => Promise<unknown>>;

const keys = (count: number) => Array.from({ length: count }, (_, index) => ["k", String(index)]);

function byDeno(kv: Deno.Kv): Actions {
  return {
    commit: async (count, value) => {
      const operation = kv.atomic();
      for (const key of keys(count)) operation.set(key, value);
      await operation.commit();
    },
    read: async (count) => {
      const all = keys(count);
      const batches = Array.from(
        { length: Math.ceil(count / 10) },
        (_, index) => all.slice(10 * index, 10 * index + 10),
      );
      await Promise.all(batches.map((batch) => kv.getMany(batch)));
    },
  };
}

function withSomethingAhead(kv: Deno.Kv): Actions {
  const { commit, read } = byDeno(kv);
  const ahead = (action: Actions["commit"]): Actions["commit"] => async (count, value) =>
    await Promise.all([kv.get(["small"]), action(count, value)]);
  return { commit: ahead(commit), read: ahead(read) };
}

function byStore(store: KvStore): Actions {
  return {
    commit: (count, value) => store.commit(keys(count).map((key) => ({ type: "set", key, value }))),
    read: (count) => store.getMany(keys(count)),
  };
}

async function median(action: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await action();
    times.push(performance.now() - start);
  }
  times.sort((one, other) => one - other);
  return (times[ROUNDS / 2] ?? NaN).toFixed(1).padStart(8);
}

if (import.meta.main) {
  await using server = await Denokv.start();
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.accessToken);
  using kv = await Deno.openKv(server.url);
  await using store = await KvStore.open(server.url);
  const contestants: [string, Actions][] = [
    ["Deno's client", byDeno(kv)],
    ["with a reading ahead", withSomethingAhead(kv)],
    ["KvStore", byStore(store)],
  ];
  console.log(
    `median of ${ROUNDS}, in ms`.padEnd(28) + contestants.map(([name]) => name.padStart(22)).join(""),
  );
  for (const what of ["commit", "read"] as const) {
    for (const [count, bytes] of SHAPES) {
      let line = `${what} ${count} x ${bytes} B`.padEnd(28);
      for (const [, actions] of contestants) {
        const value = new Uint8Array(bytes);
        line += (await median(() => actions[what](count, value))).padStart(22);
      }
      console.log(line);
    }
  }
}
