/**
 * Four processes of one account and device share a database on denokv; they are paused, for longer
 * than their lease too, resumed, killed and replaced: is there never more than one that writes, is
 * each message answered exactly once, and do the sessions count without a gap?
 *
 * `deno task four [MINUTES] [--seed=NUMBER]`
 *
 * The exit code is 1 if two have written at a time, anything was lost, repeated or used twice, or
 * is stuck in the end.
 *
 * @module
 */

import { Synapse } from "../tools/synapse.ts";

/** How many problems are printed. */
const TOLD = 60;

async function main(minutes: number, seed: number): Promise<boolean> {
  await using synapse = await Synapse.start();
  // What the tests against Synapse share looks for it there, and would start one of its own.
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { fourRun } = await import("./four/run.ts");
  console.log(`${minutes} minutes, seed ${seed}`);
  const duration = minutes * 60_000;
  const { counts, problems } = await fourRun(synapse, { duration, seed, print: console.log, keep: true });
  console.table(counts);
  for (const problem of problems.slice(0, TOLD)) console.log(problem);
  if (problems.length > TOLD) console.log(`… and ${problems.length - TOLD} more`);
  return problems.length === 0;
}

if (import.meta.main) {
  const minutes = Number(Deno.args.find((arg) => /^[\d.]+$/.test(arg)) ?? 10);
  const seed = Number(
    Deno.args.find((arg) => arg.startsWith("--seed="))?.slice("--seed=".length) ?? Date.now() % 1_000_000,
  );
  const passed = await main(minutes, seed);
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
