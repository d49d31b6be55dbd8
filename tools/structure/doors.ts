/**
 * Folders with doors: a folder is a module, and from outside only its door is imported. That is the
 * file named after the folder, its `mod.ts`, or an entry of the package.
 *
 * @module
 */

import { basename, dirname } from "node:path";
import type { Names, Place } from "./names.ts";
import type { ImportEdge, Violation } from "./types.ts";

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

/**
 * The imports of tests, benches and tools that take from another file of a folder what its door exports.
 * A test may import the file that it mirrors.
 *
 * @param names Those of all files of the repository.
 * @param entries The files that the package exports, by their paths.
 */
export function namesPastDoors(names: ReadonlyMap<string, Names>, entries: readonly string[]): Violation[] {
  const originOf = ({ file, name }: Place): string => {
    const origin = names.get(file)?.exports.get(name);
    return origin === undefined ? `${file} ${name}` : originOf(origin);
  };
  return [...names].filter(([from]) => !from.startsWith("src/")).flatMap(([from, { imports }]) =>
    imports.flatMap(({ file, name, isType }) => {
      const folder = dirname(file);
      const isOwn = from === file.replace("src/", "tests/").replace(".ts", "_test.ts");
      if (!file.startsWith("src/") || isOwn || OPEN.test(file) || isDoor(file, entries)) return [];
      const door = [`${folder}/mod.ts`, `${folder}/${basename(folder)}.ts`].find((path) => {
        const { exports } = names.get(path) ?? {};
        return exports?.has(name) && (isType || !exports.get(name)?.isType) &&
          originOf({ file: path, name }) === originOf({ file, name });
      });
      return door === undefined ? [] : [`${from}: imports ${name} from ${file}; import it from ${door}`];
    })
  );
}
