/**
 * Builds vodozemac without WebAssembly, once, into the repository's ignored folder `.cache/`.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { hasCargo } from "../../tools/denokv.ts";
import { ROOT, run } from "../../tools/process.ts";

const CRATE = `${import.meta.dirname ?? "."}/native`;

/**
 * Makes sure that it is built. One process builds while others wait.
 *
 * @param print Takes the line that says why the first run takes longer.
 * @returns The path of the program.
 */
export async function installNativeVodozemac(print: (line: string) => void): Promise<string> {
  const files = await Promise.all(
    ["Cargo.toml", "Cargo.lock", "src/main.rs"].map((name) => Deno.readTextFile(`${CRATE}/${name}`)),
  );
  const stamp = createHash("sha256").update(files.join("\n")).digest("hex").slice(0, 16);
  const folder = `${ROOT}.cache/native-vodozemac-${stamp}`;
  const program = `${folder}/release/native-vodozemac`;
  await Deno.mkdir(folder, { recursive: true });
  using lock = await Deno.open(`${folder}.lock`, { create: true, write: true });
  const exclusive = true;
  await lock.lock(exclusive);
  if (await Deno.stat(program).then(() => true, () => false)) return program;
  if (!await hasCargo()) throw new Error("Cannot build vodozemac: no cargo was found; install Rust");
  print("building vodozemac without WebAssembly (once)");
  const where = [`--manifest-path=${CRATE}/Cargo.toml`, `--target-dir=${folder}`];
  const { code, output } = await run("cargo", ["build", "--release", "--locked", "--quiet", ...where]);
  if (code !== 0) throw new Error(`Cannot build vodozemac: cargo failed:\n${output}`);
  return program;
}
