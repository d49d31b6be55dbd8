/**
 * Fuzzes a client with hostile sync responses and answers.
 *
 * `deno task fuzz [COUNT] [--store=memory] [--seed=1]`, with one of the stores `memory`, `kv`,
 * `sqlite`, `sealed` and `denokv`.
 *
 * Responses are made by a grammar of Matrix, and half of them are changed after that, as JSON or as
 * bytes; answers to other requests are too. They come in epochs, each with a store and a seed of
 * its own. After every few of them the client has to receive the next valid message, in clear and
 * encrypted. It may not end, rely on a wrong type, or change a prototype. Now and then it is closed
 * and another made with the same store. A failure is shrunk, and printed.
 *
 * @module
 */

import { play, type Played } from "./fuzz/play.ts";
import { shrink } from "./fuzz/shrink.ts";
import { FUZZ_STORES, type FuzzStore } from "./fuzz/store_kinds.ts";

/** How many responses a store receives. */
const EPOCH = 1_000;
/** So many epochs a seed has for itself. */
const SEEDS = 1_024;
/**
 * How large a store may be at the end of an epoch, and how much memory may be held at that time, in
 * bytes.
 */
const MAX_STORE = 64 * 2 ** 20;
const MAX_HEAP = 512 * 2 ** 20;
/** How much of a response is printed, in characters. */
const PRINTED = 4_000;

interface Run {
  readonly store: FuzzStore;
  readonly seed: number;
  readonly count: number;
}

/** Plays until something fails, or all is done; whether nothing has failed. */
async function fuzz({ store, seed, count }: Run): Promise<boolean> {
  const begun = performance.now();
  const totals = new Map<string, number>();
  let [done, clients, largest] = [0, 0, 0];
  for (let epoch = 0; done < count; epoch++) {
    const options = { store, seed: seed * SEEDS + epoch, count: Math.min(EPOCH, count - done) };
    const played = await play(options);
    addUp(totals, played);
    clients += played.clients;
    largest = Math.max(largest, played.size);
    if (played.fault !== undefined) {
      console.log(`epoch ${epoch} of seed ${seed}, in ${store}: ${played.fault.reasons.join("\n")}`);
      const { reasons, responses } = await shrink(options, played.fault);
      console.log(`the smallest failing input: ${reasons.join("\n")}`);
      for (const [index, bytes] of responses) {
        console.log(`${index}: ${new TextDecoder().decode(bytes).slice(0, PRINTED)}`);
      }
      return false;
    }
    const { heapUsed } = Deno.memoryUsage();
    if (played.size > MAX_STORE || heapUsed > MAX_HEAP) {
      console.log(
        `epoch ${epoch} of seed ${seed}, in ${store}: ${played.size} bytes of store, ${heapUsed} of heap`,
      );
      return false;
    }
    done += options.count;
    console.log(`${store}: ${done}, ${perSecond(done, begun)} a second`);
  }
  console.table(Object.fromEntries([...totals].sort()));
  console.log(
    `${store}, seed ${seed}: ${done} responses, ${clients} clients, ${perSecond(done, begun)} a second, ` +
      `a store of ${largest} bytes at most; no fault`,
  );
  return true;
}

function addUp(totals: Map<string, number>, { counts, logged, requests }: Played): void {
  for (const [name, added] of Object.entries({ made: counts, logged, asked: requests })) {
    for (const [kind, count] of added) {
      const title = `${name}: ${kind}`;
      totals.set(title, (totals.get(title) ?? 0) + count);
    }
  }
}

function perSecond(done: number, begun: number): number {
  return Math.round(done / (performance.now() - begun) * 1_000);
}

function option(name: string): string | undefined {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

if (import.meta.main) {
  const store = FUZZ_STORES.find((kind) => kind === (option("store") ?? "memory"));
  const count = Number(Deno.args.find((arg) => !arg.startsWith("--")) ?? 10_000);
  const seed = Number(option("seed") ?? 1);
  if (store === undefined || !Number.isSafeInteger(count) || !Number.isSafeInteger(seed)) {
    console.error(`deno task fuzz [COUNT] [--store=${FUZZ_STORES.join("|")}] [--seed=1]`);
    Deno.exit(2);
  }
  Deno.exit(await fuzz({ store, seed, count }) ? 0 : 1);
}
