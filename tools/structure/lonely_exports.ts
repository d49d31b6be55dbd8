/**
 * Names that a file exports and no other file imports.
 *
 * @module
 */

import { ALL, type Names, type Place } from "./names.ts";
import type { Violation } from "./types.ts";

/**
 * Returns what is exported in `src/` for nobody. A name is used if an entry exports it, if another file
 * imports it, or if the signature of a used name mentions it; a re-export is no use by itself.
 *
 * @param names Those of all files of the repository: tests and benches are users too.
 * @param entries The files that the package exports, by their paths.
 */
export function lonelyExports(names: ReadonlyMap<string, Names>, entries: readonly string[]): Violation[] {
  const used = new Set<string>();
  const use = ({ file, name }: Place): void => {
    const there = names.get(file);
    if (there === undefined || used.has(`${file} ${name}`)) return;
    used.add(`${file} ${name}`);
    if (name === ALL) { for (const each of there.exports.keys()) use({ file, name: each }); }
    const origin = there.exports.get(name);
    if (origin !== undefined) use(origin);
    for (const other of there.mentioned.get(name) ?? []) use({ file, name: other });
    if (!there.exports.has(name)) { for (const other of there.all) use({ file: other, name }); }
  };
  for (const file of entries) use({ file, name: ALL });
  for (const { imports } of names.values()) imports.forEach(use);
  return [...names].filter(([file]) => file.startsWith("src/")).flatMap(([file, { exports }]) => {
    const lonely = [...exports.keys()].filter((name) => !used.has(`${file} ${name}`));
    return lonely.length === 0
      ? []
      : [`${file}: exports what no other file imports: ${lonely.join(", ")}; keep it to the file`];
  });
}
