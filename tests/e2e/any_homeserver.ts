/**
 * The operations and the lives of bots on a homeserver of another make, for example Dendrite. It is no part of the gate.
 *
 * Set `GREENROOM_SYNAPSE_URL`, `GREENROOM_SYNAPSE_NAME` and `GREENROOM_SYNAPSE_SECRET` (what registers users, as Synapse's shared
 * secret does), and name this file: `deno test -A tests/e2e/any_homeserver.ts`.
 *
 * @module
 */

import { stories } from "../lives/stories/all.ts";
import { tell } from "../lives/world.ts";
import { runOperation } from "../operations/support/scene.ts";
import { operations } from "../operations/suite.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, synapseTest } from "./support/synapse.ts";

for (const operation of operations) {
  synapseTest(operation.name, (server) => runOperation(operation, synapseHost(server)));
}

for (const story of stories.filter(({ restarts }) => restarts !== true)) {
  for (const rooms of story.rooms) {
    synapseTest(`${story.name} (rooms ${rooms})`, async (server) => {
      const restart = () => Promise.reject(new Error("It is not ours to restart"));
      const host = { ...synapseHost(server), restart, bot: () => newUser(server, "bot") };
      await tell(story, { encrypted: rooms === "encrypted" }, host);
    });
  }
}
