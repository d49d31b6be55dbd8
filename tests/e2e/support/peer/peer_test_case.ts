/**
 * Tests that are the same with each peer.
 *
 * @module
 */

import { missingPeer, PEER_KINDS, type PeerKind } from "./peer_kind.ts";
import { type SynapseServer, synapseTest } from "../synapse.ts";

const missing = new Map(
  await Promise.all(PEER_KINDS.map(async (kind) => [kind, await missingPeer(kind)] as const)),
);

/**
 * Defines a test against Synapse that needs peers; it is skipped where one of them can't be had.
 */
export function peerTest(
  name: string,
  kinds: readonly PeerKind[],
  test: (server: SynapseServer) => Promise<void>,
): void {
  const why = kinds.map((kind) => missing.get(kind)).find((reason) => reason !== undefined);
  if (why === undefined) synapseTest(name, test);
  else Deno.test({ name: `${name} (${why})`, ignore: why !== undefined, fn() {} });
}

/** Defines the same test with each peer: `name, with <peer>`. */
export function eachPeer(
  name: string,
  test: (kind: PeerKind, server: SynapseServer) => Promise<void>,
): void {
  for (const kind of PEER_KINDS) peerTest(`${name}, with ${kind}`, [kind], (server) => test(kind, server));
}
