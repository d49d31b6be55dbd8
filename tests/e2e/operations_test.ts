import { runOperation } from "../operations/scene.ts";
import { operations } from "../operations/suite.ts";
import { synapseHost } from "./support/host.ts";
import { synapseTest } from "./support/synapse.ts";

for (const operation of operations) {
  synapseTest(`Synapse: ${operation.name}`, async (server) => {
    await runOperation(operation, synapseHost(server));
  });
}
