/**
 * How many names the package's root exports.
 *
 * @module
 */

import type { SourceFile, Violation } from "./types.ts";

const ROOT_ENTRY = "mod.ts";
const MAX_NAMES = 100;

/**
 * Whether the root exports more names than a reader can look through, or exports files without
 * naming what is in them.
 */
export function checkSurface(files: readonly SourceFile[]): Violation[] {
  return files.filter(({ path }) => path === ROOT_ENTRY).flatMap(({ text }) => {
    if (/^export\s+(?:type\s+)?\*/m.test(text)) {
      return [`${ROOT_ENTRY}: exports all of a file; name what it exports`];
    }
    const lists = [...text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm)].map(([, names = ""]) => names);
    const count = lists.flatMap((names) => names.split(",")).filter((name) => name.trim() !== "").length;
    if (count <= MAX_NAMES) return [];
    return [`${ROOT_ENTRY}: exports ${count} names; move types that operations take and return to types.ts`];
  });
}
