import { assertEquals, assertNotEquals } from "@std/assert";
import { compare, whereTheyDiffer } from "../../tools/twin/compare.ts";
import { DIFFERENCES } from "../../tools/twin/differences.ts";
import { generate } from "../../tools/twin/generate.ts";
import { describeStep } from "../../tools/twin/step.ts";
import { asked, type Theirs } from "../../tools/twin/theirs.ts";
import { type SynapseServer, synapseTest } from "./support/synapse.ts";

/** Some hundred requests; `deno task twin` takes as many as one likes. */
const SEEDS = [9, 10, 14, 16, 41, 42];

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

for (const { reason, shownBy } of DIFFERENCES) {
  if (shownBy === undefined) continue;
  synapseTest(`still different: ${reason}`, async (server) => {
    const { listed } = await compare(answersOf(server), shownBy);
    assertNotEquals(listed.find(({ step }) => step === shownBy.at(-1)), undefined);
  });
}

function answersOf({ baseUrl }: SynapseServer): Theirs {
  return asked(() => Promise.resolve({ baseUrl, fetch }));
}
