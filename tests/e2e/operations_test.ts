import { runOperation } from "../operations/scene.ts";
import { operations } from "../operations/suite.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";

for (const operation of operations) {
  synapseTest(`Synapse: ${operation.name}`, async (server: SynapseServer) => {
    await runOperation(operation, {
      baseUrl: server.baseUrl,
      serverName: server.serverName,
      fetch,
      register: (name) => newUser(server, name),
    });
  });
}
