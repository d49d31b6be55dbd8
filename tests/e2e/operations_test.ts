import { assertEquals } from "@std/assert";
import { InProcessHost } from "../operations/support/in_process.ts";
import type { Operation, OperationsHost } from "../operations/support/operation.ts";
import { runOperation, withFetch } from "../operations/support/scene.ts";
import { operations } from "../operations/suite.ts";
import { transcribed } from "../operations/support/transcript.ts";
import { synapseHost } from "./support/host.ts";
import { synapseTest } from "./support/synapse.ts";

/** Runs an operation and gives what the host answered. */
async function answersOf(host: OperationsHost, operation: Operation): Promise<string[]> {
  const { fetch, answers } = transcribed(host.fetch);
  await runOperation(operation, withFetch(host, fetch));
  return [...answers].sort();
}

for (const operation of operations) {
  synapseTest(`Synapse, and the in-process homeserver like it: ${operation.name}`, async (server) => {
    await using ours = new InProcessHost();
    const expected = await answersOf(synapseHost(server), operation);
    assertEquals(await answersOf(ours, operation), expected, "the in-process homeserver answers otherwise");
  });
}
