/**
 * Folders with doors: a folder is a module, and from outside only its door is imported. That is the
 * file named after the folder, its `mod.ts`, or an entry of the package.
 *
 * @module
 */

import { basename, dirname } from "node:path";
import type { ImportEdge } from "./types.ts";

/** Folders that are open: everything may import any of their files. */
const OPEN = /^src\/(?:types|errors|base)\//;

/** Whether a file is the door of its folder. */
export function isDoor(path: string, entries: readonly string[]): boolean {
  return entries.includes(path) || ["mod.ts", `${basename(dirname(path))}.ts`].includes(basename(path));
}

/**
 * The imports that reach past the door of a folder. A file that is loaded late, by `import()`, is
 * imported by its own name: through the door it would be loaded at once.
 *
 * @param entries The files that the package exports, by their paths.
 */
export function pastDoors(edges: readonly ImportEdge[], entries: readonly string[]): ImportEdge[] {
  return edges.filter(({ from, to, lazy }) => {
    const inside = from.startsWith(`${dirname(to)}/`);
    return to.startsWith("src/") && !inside && !lazy && !OPEN.test(to) && !isDoor(to, entries);
  });
}
