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
      let [evicted, atOnce] = [0, 0];
      // When instances are evicted, and how many there are at once, is a matter of the machine's time, too.
      for (let seed = 3; seed < 6 && !(evicted > 0 && atOnce > 1); seed++) {
        const { counts, problems } = await deployRun(server, { messages: 60, seed, print() {} });
        assertEquals(problems, []);
        evicted += Number(counts.evicted);
        atOnce = Math.max(atOnce, Number(counts.atOnce));
      }
      assert(evicted > 0 && atOnce > 1, `${evicted} were evicted, at most ${atOnce} ran at once`);
    },
  );
}
