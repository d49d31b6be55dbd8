/**
 * Cycles of folders. Imports of types do not count: they are gone when the code runs.
 *
 * @module
 */

import { dirname } from "node:path";
import type { ImportEdge } from "./types.ts";

/** The sets of folders that import values from each other, each sorted. */
export function folderCycles(edges: readonly ImportEdge[]): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to, typeOnly } of edges) {
    const [importer, imported] = [dirname(from), dirname(to)];
    if (typeOnly || importer === imported || !imported.startsWith("src")) continue;
    targets.set(importer, (targets.get(importer) ?? new Set()).add(imported));
  }
  const reached = new Map([...targets.keys()].map((folder) => [folder, reachable(folder, targets)]));
  const together = (a: string, b: string) =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const cyclic = [...targets.keys()].filter((folder) => together(folder, folder)).toSorted();
  const sets = cyclic.map((folder) => cyclic.filter((other) => together(folder, other)));
  return sets.filter(([first], index) => first === cyclic[index]);
}

function reachable(from: string, targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const seen = new Set<string>();
  const open = [from];
  for (const folder of open) {
    for (const next of targets.get(folder) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return seen;
}
