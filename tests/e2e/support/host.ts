/**
 * Synapse as a homeserver that scenes are played on.
 *
 * @module
 */

import type { OperationsHost } from "../../operations/support/operation.ts";
import { newUser, type SynapseServer } from "./synapse.ts";

/** What a scene needs of a Synapse. */
export function synapseHost(server: SynapseServer): OperationsHost {
  const { baseUrl, serverName } = server;
  return { baseUrl, serverName, fetch, register: (name) => newUser(server, name) };
}
