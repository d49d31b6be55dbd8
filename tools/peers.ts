/**
 * Installs other people's clients in Python, which are peers in the tests against Synapse.
 *
 * @module
 */

import { installPython, type PythonPackage } from "./python.ts";

/** A client, and the variable that tells a test the path of the Python that has it. */
export interface PeerPackage extends PythonPackage {
  /** The variable's name. */
  variable: string;
}

/** The clients. */
export const PEER_PACKAGES = {
  nio: { name: "nio", package: "matrix-nio", variable: "GREENROOM_PEER_NIO" },
  mautrix: { name: "mautrix", package: "mautrix", variable: "GREENROOM_PEER_MAUTRIX" },
} satisfies Record<string, PeerPackage>;

/** Those that are there. */
export interface InstalledPeers {
  /** Where they are: what the tests' environment must have. */
  env: Record<string, string>;
  /** Why others are not there. */
  missing: string[];
}

/**
 * Installs them all. One that can't be installed, as where there is no compiler for libolm, is left
 * out.
 */
export async function installPeers(print: (line: string) => void): Promise<InstalledPeers> {
  const env: Record<string, string> = {};
  const missing: string[] = [];
  for (const { variable, ...wanted } of Object.values(PEER_PACKAGES)) {
    try {
      env[variable] = await installPython(wanted, print);
    } catch (error) {
      missing.push(String(error));
    }
  }
  return { env, missing };
}
