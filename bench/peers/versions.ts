/**
 * What the others' versions are: those that are pinned.
 *
 * @module
 */

import packageJson from "./npm/package.json" with { type: "json" };
import { PEER_PACKAGES } from "../../tools/peers.ts";
import { ROOT } from "../../tools/process.ts";
import { findPython } from "../../tools/python.ts";
import { nodeVersion } from "./js_peers.ts";

/** Everybody's version, and that of what they run on. */
export async function peerVersions(): Promise<string> {
  const pinned = await Promise.all(
    Object.values(PEER_PACKAGES).map(async ({ name, package: title }) => {
      const pins = await Deno.readTextFile(`${ROOT}tools/python/${name}.txt`);
      const version = pins.match(new RegExp(`^${title}==(\\S+)$`, "m"))?.[1];
      return `${title} ${version ?? "?"}`;
    }),
  );
  const python = (await findPython())?.version.split(" ")[0];
  return [
    `Deno ${Deno.version.deno} (V8 ${Deno.version.v8})`,
    `Node ${await nodeVersion() ?? "–"}`,
    `Python ${python ?? "–"}`,
    ...Object.entries(packageJson.dependencies).map(([name, version]) => `${name} ${version}`),
    ...pinned,
  ].join(", ");
}
