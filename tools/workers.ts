/**
 * `deno task workers [COMMAND…]`: runs a command against a Synapse with two workers that sync,
 * PostgreSQL and Redis; by default, the tests against Synapse.
 *
 * A test that needs a Synapse of its own starts one without workers. It is no part of the gate: PostgreSQL
 * and Redis are those of Debian; root has them installed.
 *
 * @module
 */

import { installPeers } from "./peers.ts";
import { ROOT } from "./process.ts";
import { startWorkers } from "./synapse/workers.ts";

/** What is run by default. */
const TESTS = [Deno.execPath(), "test", "-A", "--no-check", "tests/e2e"];

if (import.meta.main) {
  await using stack = new AsyncDisposableStack();
  const { baseUrl, serverName, sharedSecret } = await startWorkers(stack, console.log);
  const [command = "", ...args] = Deno.args.length === 0 ? TESTS : Deno.args;
  const peers = await installPeers(console.log);
  for (const why of peers.missing) console.error(why);
  const { code } = await new Deno.Command(command, {
    args,
    cwd: ROOT,
    env: {
      ...peers.env,
      GREENROOM_SYNAPSE_URL: baseUrl,
      GREENROOM_SYNAPSE_NAME: serverName,
      GREENROOM_SYNAPSE_SECRET: sharedSecret,
    },
  }).spawn().status;
  Deno.exitCode = code;
}
