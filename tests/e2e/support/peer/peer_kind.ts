/**
 * The clients that play peers: where they are, and how they are run.
 *
 * @module
 */

import { PEER_PACKAGES } from "../../../../tools/peers.ts";
import { findPython, installPython, NO_PYTHON } from "../../../../tools/python.ts";

/**
 * matrix-nio with vodozemac in Python, mautrix-python with libolm, and matrix-js-sdk with
 * matrix-sdk-crypto in Rust.
 */
export type PeerKind = "nio" | "mautrix" | "js_sdk";

/** All of them. */
export const PEER_KINDS: readonly PeerKind[] = ["nio", "mautrix", "js_sdk"];

const PEERS = new URL("../../peers/", import.meta.url).pathname;

/** The program of a peer, and its arguments. */
export async function peerCommand(kind: PeerKind): Promise<{ command: string; args: string[] }> {
  if (kind === "js_sdk") return { command: Deno.execPath(), args: ["run", "-A", `${PEERS}js_sdk.ts`] };
  const { variable, ...wanted } = PEER_PACKAGES[kind];
  const command = Deno.env.get(variable) ?? await installPython(wanted, console.log);
  return { command, args: [`${PEERS}${kind}.py`] };
}

/** Why a peer can't be had; never with `CI=true`, where its test fails instead. */
export async function missingPeer(kind: PeerKind): Promise<string | undefined> {
  if (kind === "js_sdk" || Deno.env.get("CI") === "true") return undefined;
  if (Deno.env.get(PEER_PACKAGES[kind].variable) !== undefined) return undefined;
  // The start of Synapse for the tests has installed what can be installed.
  if (Deno.env.get("GREENROOM_SYNAPSE_URL") !== undefined) return `${kind} could not be installed`;
  return await findPython() === undefined ? NO_PYTHON : undefined;
}
