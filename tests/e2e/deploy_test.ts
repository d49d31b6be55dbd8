/**
 * A bot where no process stays; `deno task deploy 500` does the same for longer.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { deployRun } from "../../bench/deploy/run.ts";
import { withoutDenokv } from "./support/denokv.ts";
import { synapseTest } from "./support/synapse.ts";

if (!withoutDenokv) {
  synapseTest(
    "examples/deploy answers each message once, in order and counted, by instances that start cold and are evicted",
    async (server) => {
      const { counts, problems } = await deployRun(server, { messages: 60, seed: 3, print() {} });
      assertEquals(problems, []);
      assert(Number(counts.evicted) > 0 && Number(counts.atOnce) > 1);
    },
  );
}
