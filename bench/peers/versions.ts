/**
 * What the others' versions are: those that are pinned.
 *
 * @module
 */

import denoJson from "../../deno.json" with { type: "json" };
import { ROOT } from "../../tools/process.ts";
import { findPython } from "../../tools/python.ts";
import { nodeVersion } from "./js_peers.ts";
import packageJson from "./npm/package.json" with { type: "json" };

const SDK_CRYPTO = "@matrix-org/matrix-sdk-crypto-wasm";
/** What is pinned in Python, by the names of the files with the pins. */
const IN_PYTHON = { mautrix: ["mautrix", "python-olm"], nio: ["matrix-nio", "vodozemac"] };

/** Everybody's version, and that of what they run on. */
export async function peerVersions(): Promise<string> {
  const inPython = await Promise.all(
    Object.entries(IN_PYTHON).map(async ([file, packages]) => {
      const pins = await Deno.readTextFile(`${ROOT}tools/python/${file}.txt`);
      return packages.map((name) =>
        `${name} ${pins.match(new RegExp(`^${name}==(\\S+)$`, "m"))?.[1] ?? "?"}`
      );
    }),
  );
  const crate = await Deno.readTextFile(`${ROOT}bench/crypto/native/Cargo.toml`);
  const python = (await findPython())?.version.split(" ")[0];
  return [
    `Deno ${Deno.version.deno} (V8 ${Deno.version.v8})`,
    `Node ${await nodeVersion() ?? "–"}`,
    `Python ${python ?? "–"}`,
    ...Object.entries(packageJson.dependencies).map(([name, version]) => `${name} ${version}`),
    `matrix-sdk-crypto-wasm ${denoJson.imports[SDK_CRYPTO].split("@").at(-1)}`,
    ...inPython.flat().map((each) => each.replace(/^vodozemac /, "with vodozemac ")),
    `vodozemac ${crate.match(/^vodozemac = "=(.*)"$/m)?.[1] ?? "?"}, native and as WebAssembly`,
  ].join(", ");
}
