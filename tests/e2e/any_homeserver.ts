/**
 * The operations and the lives of bots, of the client alone and of the kit, on a homeserver of
 * another make, for example Dendrite. It is no part of the gate.
 *
 * Start it without rate limits, set `GREENROOM_SYNAPSE_URL`, `GREENROOM_SYNAPSE_NAME` and
 * `GREENROOM_SYNAPSE_SECRET` (what registers users, as Synapse's shared secret does), and name this
 * file: `deno test -A tests/e2e/any_homeserver.ts`.
 *
 * @module
 */

import { stories } from "../lives/stories/all.ts";
import { casesOf } from "../lives/story.ts";
import { type StoryHost, tell } from "../lives/world.ts";
import { runOperation } from "../operations/support/scene.ts";
import { operations } from "../operations/suite.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";

for (const operation of operations) {
  synapseTest(operation.name, (server) => runOperation(operation, hostOf(server)));
}

for (const { story, rooms, transport, kind, name } of casesOf(stories)) {
  if (transport !== "polling" || story.restarts === true) continue; // it is not ours to restart
  synapseTest(name, async (server) => {
    await tell(story, { encrypted: rooms === "encrypted", kind }, hostOf(server));
  });
}

/** A homeserver that may not be able to lift limits: it is to have none. */
function hostOf(server: SynapseServer): StoryHost {
  const register = (name: string) => newUser(server, name);
  return { ...synapseHost(server), register, bot: () => register("bot") };
}
