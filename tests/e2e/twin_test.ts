import { assertEquals, fail } from "@std/assert";
import { compare, whereTheyDiffer } from "../../bench/twin/compare.ts";
import { DIFFERENCES, listedAs } from "../../bench/twin/differences.ts";
import { generate } from "../../bench/twin/generate.ts";
import { type Compared, describeStep } from "../../bench/twin/step.ts";
import { asked, type Theirs } from "../../bench/twin/theirs.ts";
import { withoutLimits } from "../../bench/twin/without_limits.ts";
import { type SynapseServer, synapseTest } from "./support/synapse.ts";

/** Some hundred requests; `deno task twin` takes as many as one likes. */
const SEEDS = [9, 13, 14, 16, 46, 56];

/** How often an entry is tried: what other tests ask of Synapse at that time has a part in its answers. */
const TRIES = 20;

for (const seed of SEEDS) {
  synapseTest(
    `Synapse and the in-process homeserver answer the sequence of seed ${seed} alike`,
    async (server) => {
      const { differences } = await compare(answersOf(server), generate(seed));
      assertEquals(differences.map(describe), []);
    },
  );
}

for (const difference of DIFFERENCES) {
  const { reason, shownBy } = difference;
  if (shownBy === undefined) continue; // `tests/tools/twin_test.ts` looks at what was recorded
  synapseTest(`still different: ${reason}`, async (server) => {
    const last = shownBy.at(-1);
    let others: Compared[] = [];
    for (let left = TRIES; left > 0; left--) {
      const { listed, differences } = await compare(answersOf(server), shownBy);
      if (listed.some((one) => one.step === last && listedAs(one) === difference)) return;
      others = [...listed, ...differences];
    }
    assertEquals(others.map(describe), [], "other differences than the entry's");
    fail("Synapse answered as the in-process homeserver: the entry is to go");
  });
}

function describe(one: Compared): string {
  return `${describeStep(one.step)}: ${whereTheyDiffer(one)}`;
}

function answersOf(server: SynapseServer): Theirs {
  return asked(() => Promise.resolve({ baseUrl: server.baseUrl, fetch: withoutLimits(server) }));
}
