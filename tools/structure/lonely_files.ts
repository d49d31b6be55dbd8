/**
 * Small files that only one other file imports: they are part of that file.
 *
 * @module
 */

import { isDoor } from "./doors.ts";
import { headComment, MAX_LINES, REEXPORT } from "./files.ts";
import type { ImportEdge, SourceFile } from "./types.ts";

const SMALL = 120;
const REASON = "A file of its own because";

/**
 * The files under 120 lines that belong into the one file that imports them. A file may stay if both
 * would be over 300 lines, if it is loaded late, if its importer only re-exports, if it is the door of
 * its folder, or if its head says "A file of its own because …".
 *
 * @param entries The files that the package exports, by their paths.
 */
export function lonelyFiles(
  files: readonly SourceFile[],
  edges: readonly ImportEdge[],
  entries: readonly string[],
): { path: string; importer: string }[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const lines = new Map(files.map(({ path, text }) => [path, linesOf(text)]));
  const importers = Map.groupBy(edges, ({ to }) => to);
  const bySize = files.toSorted((a, b) => linesOf(a.text) - linesOf(b.text) || (a.path < b.path ? -1 : 1));
  return bySize.flatMap(({ path, text }) => {
    const [first, ...others] = importers.get(path) ?? [];
    const size = lines.get(path) ?? 0;
    if (first === undefined || others.some(({ from }) => from !== first.from)) return [];
    const importer = first.from;
    const stays = size >= SMALL || first.lazy || entries.includes(importer) ||
      onlyReexports(texts.get(importer) ?? "") ||
      isDoor(path, entries) || headComment(text).includes(REASON) ||
      size + (lines.get(importer) ?? 0) > MAX_LINES;
    if (!path.startsWith("src/") || stays) return [];
    lines.set(importer, (lines.get(importer) ?? 0) + size);
    return [{ path, importer }];
  });
}

const linesOf = (text: string) => text.trimEnd().split("\n").length;

/** Whether a file holds nothing but re-exports. */
function onlyReexports(text: string): boolean {
  return text !== "" && text.replace(/\/\*.*?\*\//gs, "").replace(REEXPORT, "").trim() === "";
}
