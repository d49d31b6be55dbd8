/**
 * The crates that vodozemac.wasm is built of.
 *
 * @module
 */

import { ROOT } from "../process.ts";
import type { Dependency, Run } from "./types.ts";

const FOLDER = "vodozemac-wasm";

/** A package of `cargo metadata`. */
interface Crate {
  readonly name: string;
  readonly version: string;
  readonly license: string | null;
  /** Where it comes from; null for what is in this repository. */
  readonly source: string | null;
}

/** Reads what Cargo says of the crates; why not, if it can't be asked. */
export async function crates(run: Run): Promise<readonly Dependency[] | string> {
  const lock = await Deno.readTextFile(`${ROOT}${FOLDER}/Cargo.lock`);
  const target = ["--filter-platform", "wasm32-unknown-unknown", "--manifest-path", `${FOLDER}/Cargo.toml`];
  const args = ["metadata", "--locked", "--format-version", "1", ...target];
  const answer = await run("cargo", args).catch((error) => ({ code: 1, stdout: "", output: String(error) }));
  if (answer.code !== 0) return `cargo metadata says: ${answer.output.trim().split("\n").at(-1)}`;
  const packages: Crate[] = JSON.parse(answer.stdout).packages;
  return packages.filter(({ source }) => source !== null).map(({ name, version, license }) => ({
    name: `${name} ${version}`,
    licence: license ?? "none",
    isHashed: isHashed(lock, name, version),
  }));
}

function isHashed(lock: string, name: string, version: string): boolean {
  const entry = lock.split("[[package]]").find((each) =>
    each.includes(`name = "${name}"\n`) && each.includes(`version = "${version}"\n`)
  );
  return /^checksum = "[\da-f]{64}"$/m.test(entry ?? "");
}
