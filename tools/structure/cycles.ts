/**
 * Import cycles.
 *
 * @module
 */

import type { ImportEdge, Violation } from "./types.ts";

/** One violation for each set of files that import each other, with a shortest way round. */
export function findCycles(edges: ImportEdge[]): Violation[] {
  const targets = Map.groupBy(edges, (edge) => edge.from);
  const next = (path: string) => targets.get(path)?.map((edge) => edge.to) ?? [];
  const reported = new Set<string>();
  return [...targets.keys()].sort().flatMap((path) => {
    if (reported.has(path)) return [];
    const way = shortestWay(path, path, next);
    if (way === undefined) return [];
    way.forEach((member) => reported.add(member));
    return [`${path}: imports itself: ${way.join(" -> ")}`];
  });
}

function shortestWay(from: string, to: string, next: (path: string) => string[]): string[] | undefined {
  const ways = [[from]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const path of next(way.at(-1) ?? from)) {
      if (path === to) return [...way, path];
      if (seen.has(path)) continue;
      seen.add(path);
      ways.push([...way, path]);
    }
  }
  return undefined;
}
