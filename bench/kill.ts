/**
 * A bot in encrypted rooms on a Synapse is killed with SIGKILL at random moments and started again: is everything that it sends
 * decrypted exactly once, is everything that it is sent handled, and is no index of a ratchet used twice?
 *
 * `deno task kill [KILLS] [SEED]`
 *
 * It talks and answers in three rooms, in one of which sessions rotate every few messages; the others in them are another client
 * of ours and devices of matrix-nio. Half of the kills come at any time, the others right at a request or a commit. The exit
 * code is 1 if anything was lost, repeated, refused or used twice.
 *
 * @module
 */

import { Synapse } from "../tools/synapse.ts";

/** How many problems are told. */
const TOLD = 60;

async function main(kills: number, seed: number): Promise<boolean> {
  await using synapse = await Synapse.start();
  // What the tests against Synapse share looks for it there, and would start one of its own.
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { killRun } = await import("./kill/run.ts");
  console.log(`${kills} kills, seed ${seed}`);
  const { counts, problems } = await killRun(synapse, { kills, seed, print: console.log, keep: true });
  console.table(counts);
  for (const problem of problems.slice(0, TOLD)) console.log(problem);
  if (problems.length > TOLD) console.log(`… and ${problems.length - TOLD} more`);
  return problems.length === 0;
}

if (import.meta.main) {
  const [kills = 200, seed = Date.now() % 1_000_000] = Deno.args.map(Number);
  const passed = await main(kills, seed);
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
