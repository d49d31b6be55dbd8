/**
 * How many files a folder may hold: as many as a reader can survey at a glance.
 *
 * @module
 */

import { dirname } from "node:path";
import type { Violation } from "./types.ts";

const MAX_FILES = 24;

/** Folders that hold too many files, their subfolders aside. */
export function checkFolders(paths: readonly string[]): Violation[] {
  const folders = Map.groupBy(paths.filter((path) => !path.startsWith("third_party/")), dirname);
  return [...folders]
    .filter(([, files]) => files.length > MAX_FILES)
    .map(([folder, files]) => `${folder}: holds ${files.length} files; give them subfolders by concept`);
}
