import { assertEquals, fail } from "@std/assert";
import { compare, whereTheyDiffer } from "../../bench/twin/compare.ts";
import { DIFFERENCES, listedAs } from "../../bench/twin/differences.ts";
import { generate } from "../../bench/twin/generate.ts";
import { describeStep } from "../../bench/twin/step.ts";
import { asked, type Theirs } from "../../bench/twin/theirs.ts";
import { withoutLimits } from "../../bench/twin/without_limits.ts";
import { type SynapseServer, synapseTest } from "./support/synapse.ts";

/** Some hundred requests; `deno task twin` takes as many as one likes. */
const SEEDS = [9, 10, 14, 16, 41, 42];

/** What is chance is tried at most so often. */
const CHANCES = 20;

for (const seed of SEEDS) {
  synapseTest(
    `Synapse and the in-process homeserver answer the sequence of seed ${seed} alike`,
    async (server) => {
      const { differences } = await compare(answersOf(server), generate(seed));
      const lines = differences.map((one) => `${describeStep(one.step)}: ${whereTheyDiffer(one)}`);
      assertEquals(lines, []);
    },
  );
}

for (const difference of DIFFERENCES) {
  const { reason, shownBy, byChance } = difference;
  if (shownBy === undefined) continue; // `tests/tools/twin_test.ts` looks at what was recorded
  synapseTest(`still different: ${reason}`, async (server) => {
    const last = shownBy.at(-1);
    for (let left = byChance === true ? CHANCES : 1; left > 0; left--) {
      const { listed } = await compare(answersOf(server), shownBy);
      if (listed.some((one) => one.step === last && listedAs(one) === difference)) return;
    }
    fail("Synapse answered as the in-process homeserver: the entry is to go");
  });
}

function answersOf(server: SynapseServer): Theirs {
  return asked(() => Promise.resolve({ baseUrl: server.baseUrl, fetch: withoutLimits(server) }));
}
