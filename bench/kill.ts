/**
 * A bot on a Synapse is killed with SIGKILL at random moments and started again: is each message
 * that it is sent answered exactly once, do its sessions count without a gap, is everything that it
 * sends decrypted exactly once, and is no index of a ratchet used twice?
 *
 * `deno task kill [KILLS] [--store=kv|sqlite|denokv] [--wake] [--seed=NUMBER]`
 *
 * With `--wake` it does not poll: the homeserver wakes it, and it makes passes.
 *
 * It talks in three encrypted rooms, in one of which sessions rotate every few messages, and
 * answers there and in two rooms that are not encrypted; the others in them are another client of
 * ours and devices of matrix-nio. Half of the kills come at any time, the others right at a
 * request, a commit or the end of a handler. With `denokv`, that server is killed now and then too.
 * The exit code is 1 if anything was lost, repeated, refused or used twice, or is stuck in the end.
 *
 * @module
 */

import { Synapse } from "../tools/synapse.ts";
import { STORE_KINDS, type StoreKind } from "./kill/store_place.ts";

/** How many problems are printed. */
const TOLD = 60;

interface Choice {
  readonly kills: number;
  readonly seed: number;
  readonly store: StoreKind;
  readonly isWoken: boolean;
}

async function main({ kills, seed, store, isWoken }: Choice): Promise<boolean> {
  await using synapse = await Synapse.start();
  // What the tests against Synapse share looks for it there, and would start one of its own.
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { killRun } = await import("./kill/run.ts");
  console.log(`${kills} kills on ${store}${isWoken ? ", woken" : ""}, seed ${seed}`);
  const { counts, problems } = await killRun(synapse, {
    kills,
    seed,
    store,
    isWoken,
    print: console.log,
    keep: true,
  });
  console.table(counts);
  for (const problem of problems.slice(0, TOLD)) console.log(problem);
  if (problems.length > TOLD) console.log(`… and ${problems.length - TOLD} more`);
  return problems.length === 0;
}

/** What the command line says. */
function choice(args: readonly string[]): Choice {
  const option = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const store = STORE_KINDS.find((kind) => kind === (option("store") ?? "kv"));
  if (store === undefined) {
    console.error(`Cannot use that store: there are only ${STORE_KINDS.join(", ")}`);
    Deno.exit(2);
  }
  const kills = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 200);
  const isWoken = args.includes("--wake");
  return { kills, seed: Number(option("seed") ?? Date.now() % 1_000_000), store, isWoken };
}

if (import.meta.main) {
  const passed = await main(choice(Deno.args));
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
