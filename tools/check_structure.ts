/**
 * Checks the structure of the repository: import cycles, layers, the rules for each file and folder,
 * the doors of folders, and the size of the public surface.
 *
 * - `--table` prints the numbers that say how easy the sources are to survey.
 * - `--list=src/store` names what the ratchet counts of a top folder.
 * - `--lower` writes the numbers of today into `structure/ratchet.json`, where they are lower.
 *
 * @module
 */

import denoJson from "../deno.json" with { type: "json" };
import { ROOT, run } from "./process.ts";
import { findCycles } from "./structure/cycles.ts";
import { namesPastDoors, pastDoors } from "./structure/doors.ts";
import { checkFiles } from "./structure/files.ts";
import { folderCycles } from "./structure/folder_cycles.ts";
import { checkFolders } from "./structure/folders.ts";
import { importGraph } from "./structure/import_graph.ts";
import { checkCryptoModules, checkKernel, checkLayers } from "./structure/layers.ts";
import { lonelyExports } from "./structure/lonely_exports.ts";
import { lonelyFiles } from "./structure/lonely_files.ts";
import { namesOfAll } from "./structure/names.ts";
import { checkPlatform } from "./structure/platform.ts";
import { type Debts, grown, partOf, shrunk } from "./structure/ratchet.ts";
import { checkSurface } from "./structure/surface.ts";
import { structureTable } from "./structure/table.ts";
import type { ImportEdge, SourceFile, Violation } from "./structure/types.ts";

const RATCHET = `${ROOT}tools/structure/ratchet.json`;
const entries = Object.values(denoJson.exports).map((path) => path.replace("./", ""));

/** The repository as it is checked. */
interface Tree {
  files: SourceFile[];
  /** The imports of the product. */
  edges: ImportEdge[];
  /** Those among benches. */
  benchEdges: ImportEdge[];
  allowed: Record<string, Debts>;
}

async function readTree(): Promise<Tree> {
  const files = await repositoryFiles();
  const benches = files.map(({ path }) => path).filter((path) => /^bench\/.*\.ts$/.test(path));
  const sources = sourcesOf(files).map(({ path }) => path);
  const all = await importGraph([...new Set([...entries, ...sources, ...benches])]);
  return {
    files,
    edges: all.filter(({ from }) => !/^(?:bench|tests|tools|examples)\//.test(from)),
    benchEdges: all.filter(({ from }) => from.startsWith("bench/")),
    allowed: JSON.parse(await Deno.readTextFile(RATCHET)),
  };
}

const sourcesOf = (files: readonly SourceFile[]) =>
  files.filter(({ path, text }) => /^src\/.*\.ts$/.test(path) && text !== "");

/** What the ratchet counts: each file or folder that stands for one, and what is to be said of it. */
function debtsOf({ files, edges }: Tree): { kind: keyof Debts; path: string; what: string }[] {
  return [
    ...pastDoors(edges, entries).map(({ from, to }) => (
      { kind: "pastDoors" as const, path: to, what: `is imported past its folder's door by ${from}` }
    )),
    ...folderCycles(edges).flatMap((folders) =>
      folders.map((path) => ({
        kind: "inCycles" as const,
        path,
        what: `is in a cycle: ${folders.join(", ")}`,
      }))
    ),
    ...lonelyFiles(sourcesOf(files), edges, entries).map(({ path, importer }) => (
      { kind: "lonely" as const, path, what: `is part of ${importer}, its only importer` }
    )),
  ];
}

function countDebts(tree: Tree): Record<string, Debts> {
  const counts: Record<string, Debts> = {};
  for (const { kind, path } of debtsOf(tree)) {
    const part = partOf(path, Object.keys(tree.allowed));
    counts[part] ??= { pastDoors: 0, inCycles: 0, lonely: 0 };
    counts[part][kind]++;
  }
  return counts;
}

/** Everything that is wrong with the structure of the repository. */
export async function checkStructure(): Promise<Violation[]> {
  return violationsOf(await readTree());
}

function violationsOf(tree: Tree): Violation[] {
  const { files, edges, benchEdges, allowed } = tree;
  const sources = sourcesOf(files).map(({ path }) => path);
  const names = namesOfAll(files);
  return [
    ...grown(allowed, countDebts(tree)),
    ...findCycles(edges),
    // Benches may know each other's types, as those of a world and its devices do.
    ...findCycles(benchEdges.filter(({ typeOnly }) => !typeOnly)),
    ...checkLayers(edges, sources),
    ...checkKernel(edges),
    ...checkCryptoModules(edges),
    ...checkFiles(files),
    ...lonelyExports(names, entries),
    ...namesPastDoors(names, entries),
    ...checkPlatform(files),
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

/** Lowers the committed numbers to those of today. */
async function lower(tree: Tree): Promise<void> {
  const found = countDebts(tree);
  const lowered = Object.entries(tree.allowed).map(([part, most]) => {
    const now = found[part] ?? { pastDoors: 0, inCycles: 0, lonely: 0 };
    return [part, {
      pastDoors: Math.min(most.pastDoors, now.pastDoors),
      inCycles: Math.min(most.inCycles, now.inCycles),
      lonely: Math.min(most.lonely, now.lonely),
    }] as const;
  }).filter(([, { pastDoors, inCycles, lonely }]) => pastDoors + inCycles + lonely > 0);
  await Deno.writeTextFile(RATCHET, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
}

if (import.meta.main) {
  const tree = await readTree();
  const list = Deno.args.find((arg) => arg.startsWith("--list="))?.slice("--list=".length);
  if (list !== undefined) {
    for (const { path, what } of debtsOf(tree)) if (path.startsWith(list)) console.log(`${path}: ${what}`);
  } else if (Deno.args.includes("--table")) {
    for (const [name, value] of structureTable(sourcesOf(tree.files), tree.edges, entries)) {
      console.log(`${name.padEnd(40)} ${value}`);
    }
  } else if (Deno.args.includes("--lower")) {
    await lower(tree);
  } else {
    const violations = violationsOf(tree);
    violations.forEach((violation) => console.log(violation));
    shrunk(tree.allowed, countDebts(tree)).forEach((sentence) => console.log(sentence));
    Deno.exit(violations.length === 0 ? 0 : 1);
  }
}
