/**
 * The numbers that say how easy the sources are to survey: `deno run -A tools/check_structure.ts
 * --table`.
 *
 * @module
 */

import { dirname } from "node:path";
import ts from "typescript";
import { pastDoors } from "./doors.ts";
import { folderCycles } from "./folder_cycles.ts";
import { lonelyFiles } from "./lonely_files.ts";
import { repeatingComments } from "./repeating_comments.ts";
import type { ImportEdge, SourceFile } from "./types.ts";

/**
 * The numbers of a tree, each with what it counts.
 *
 * @param files The files of `src/`.
 * @param edges All imports of the product.
 * @param entries The files that the package exports, by their paths.
 */
export function structureTable(
  files: readonly SourceFile[],
  edges: readonly ImportEdge[],
  entries: readonly string[],
): [name: string, value: string][] {
  const foreign = new Set(
    edges.filter(({ from, to }) => to.startsWith("src/") && dirname(from) !== dirname(to)).map(({ to }) =>
      to
    ),
  );
  const cycles = folderCycles(edges);
  const trees = files.map(treeOf);
  const sum = (count: (tree: ts.SourceFile) => number) =>
    String(trees.reduce((total, tree) => total + count(tree), 0));
  return [
    ["files of src", String(files.length)],
    ["folders of src", String(new Set(files.map(({ path }) => dirname(path))).size)],
    [
      "files imported from another folder",
      `${foreign.size} (${Math.round(100 * foreign.size / files.length)} %)`,
    ],
    ["imports past a door", String(pastDoors(edges, entries).length)],
    ["cycles of folders", `${cycles.length} (of ${cycles.flat().length} folders)`],
    ["small files with one importer", String(lonelyFiles(files, edges, entries).length)],
    ["…Options, …Parts, …Hooks, …Port", sum(bundles)],
    ["comments that repeat their declaration", String(files.flatMap(repeatingComments).length)],
    ["lines of src without comments", sum(codeLines)],
    ["modules that mod.ts loads at start", String(loadedAtStart("mod.ts", edges).size)],
  ];
}

/** The files that are loaded with a file, itself included. */
function loadedAtStart(path: string, edges: readonly ImportEdge[]): Set<string> {
  const targets = Map.groupBy(edges.filter(({ typeOnly, lazy }) => !typeOnly && !lazy), ({ from }) => from);
  const loaded = new Set([path]);
  for (const file of loaded) targets.get(file)?.forEach(({ to }) => loaded.add(to));
  return loaded;
}

/** How many interfaces and types only bundle what a function or class is given. */
function bundles(tree: ts.SourceFile): number {
  return tree.statements.filter((statement) =>
    (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) &&
    /(?:Options|Parts|Hooks|Port)$/.test(statement.name.text)
  ).length;
}

/** How many lines hold code. */
function codeLines(tree: ts.SourceFile): number {
  const lines = new Set<number>();
  const visit = (node: ts.Node) => {
    const children = node.getChildren().filter((child) => !ts.isJSDoc(child));
    children.forEach(visit);
    if (children.length > 0 || node.kind === ts.SyntaxKind.EndOfFileToken) return;
    const first = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line;
    const last = tree.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = first; line <= last; line++) if (node.getEnd() > node.getStart(tree)) lines.add(line);
  };
  visit(tree);
  return lines.size;
}

const WITH_PARENTS = true;
const treeOf = ({ path, text }: SourceFile) =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, WITH_PARENTS);
