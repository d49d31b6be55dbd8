/**
 * Four processes of one device share a database on denokv; `deno task four 10` does the same for longer.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { fourRun } from "../../bench/four/run.ts";
import { withoutDenokv } from "./support/denokv.ts";
import { synapseTest } from "./support/synapse.ts";

const DURATION_MS = 25_000;
const SEED = 4;
const NAME =
  "Of four processes of one device that are paused, resumed and killed never two write, and each message is answered once";

if (!withoutDenokv) {
  synapseTest(NAME, async (server) => {
    const { counts, problems } = await fourRun(server, { duration: DURATION_MS, seed: SEED, print() {} });
    assertEquals(problems, []);
    assert(Number(counts["messages of peers"]) > 0);
    assert(Number(counts["processes ended"]) > 0, "no process was paused past its lease");
  });
}
