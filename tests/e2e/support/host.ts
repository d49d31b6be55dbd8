/**
 * Synapse as a homeserver that scenes and stories are played on.
 *
 * @module
 */

import type { StoryHost } from "../../lives/world.ts";
import { newUser, type SynapseServer } from "./synapse.ts";

/** What a scene needs of a Synapse, and a story whose bot polls and which does not restart it. */
export function synapseHost(server: SynapseServer): StoryHost {
  const { baseUrl, serverName } = server;
  return {
    baseUrl,
    serverName,
    fetch,
    register: (name, unlimited) => newUser(server, name, { unlimited }),
    bot: async (transport, unlimited) => ({
      ...await newUser(server, "bot", { unlimited }),
      ...(transport === "sliding" && { sync: transport }),
    }),
    restart: () => Promise.reject(new Error("Cannot restart what other tests use")),
  };
}
