/**
 * Checks the structure of the repository: import cycles, layers, and the rules for each file and
 * folder, and the size of the public surface.
 *
 * @module
 */

import denoJson from "../deno.json" with { type: "json" };
import { ROOT, run } from "./process.ts";
import { findCycles } from "./structure/cycles.ts";
import { checkFiles } from "./structure/files.ts";
import { checkFolders } from "./structure/folders.ts";
import { importGraph } from "./structure/import_graph.ts";
import { checkKernel, checkLayers } from "./structure/layers.ts";
import { checkSurface } from "./structure/surface.ts";
import type { SourceFile, Violation } from "./structure/types.ts";

/** Everything that is wrong with the structure of the repository. */
export async function checkStructure(): Promise<Violation[]> {
  const files = await repositoryFiles();
  const sources = files.map(({ path }) => path).filter((path) => /^src\/.*\.ts$/.test(path));
  const entries = Object.values(denoJson.exports).map((path) => path.replace("./", ""));
  const edges = await importGraph([...new Set([...entries, ...sources])]);
  return [
    ...findCycles(edges),
    ...checkLayers(edges, sources),
    ...checkKernel(edges),
    ...checkFiles(files),
    ...checkSurface(files),
    ...checkFolders(files.filter(({ text }) => text !== "").map(({ path }) => path)),
  ];
}

/** The text files that git tracks or would track. */
async function repositoryFiles(): Promise<SourceFile[]> {
  const { code, output } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  if (code !== 0) throw new Error(`Cannot list the repository's files: git said ${output}`);
  const files = await Promise.all(
    output.split("\0").filter((path) => path !== "").map(async (path) => ({
      path,
      text: await readText(path),
    })),
  );
  return files.filter(({ text }) => !text.includes("\0"));
}

/** What is in a file; nothing if it is about to be deleted. */
async function readText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(ROOT + path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

if (import.meta.main) {
  const violations = await checkStructure();
  violations.forEach((violation) => console.log(violation));
  Deno.exit(violations.length === 0 ? 0 : 1);
}
