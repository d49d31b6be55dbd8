/**
 * A bot where no process stays, on Synapse: instances are started cold for requests, three at once,
 * stopped soon after, and evicted in the middle. Is each message answered once, in order, and counted
 * without a gap?
 *
 * `deno task deploy [MESSAGES] [--seed=NUMBER]`
 *
 * The exit code is 1 if not.
 *
 * @module
 */

import { Synapse } from "../tools/synapse.ts";

async function main(messages: number, seed: number): Promise<boolean> {
  await using synapse = await Synapse.start();
  // What the tests against Synapse share looks for it there, and would start one of its own.
  Deno.env.set("GREENROOM_SYNAPSE_URL", synapse.baseUrl);
  Deno.env.set("GREENROOM_SYNAPSE_NAME", synapse.serverName);
  Deno.env.set("GREENROOM_SYNAPSE_SECRET", synapse.sharedSecret);
  const { deployRun } = await import("./deploy/run.ts");
  console.log(`${messages} messages, seed ${seed}`);
  const { counts, problems } = await deployRun(synapse, { messages, seed, print: console.log });
  console.table(counts);
  for (const problem of problems) console.log(problem);
  return problems.length === 0;
}

if (import.meta.main) {
  const messages = Number(Deno.args.find((arg) => /^\d+$/.test(arg)) ?? 500);
  const seed = Number(
    Deno.args.find((arg) => arg.startsWith("--seed="))?.slice("--seed=".length) ?? Date.now() % 1_000_000,
  );
  const passed = await main(messages, seed);
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
