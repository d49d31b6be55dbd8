/** Files of the repository, by their path from its root. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const FOLDERS = ["docs", "examples", "bench", "src", "tools", "vodozemac-wasm"];

export function read(file) {
  return readFileSync(ROOT + file, "utf8");
}

/** Whether it is a file or a folder, or neither. */
export function kindOf(path) {
  const found = statSync(ROOT + path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.isDirectory() ? "folder" : "file";
}

/** The names in a folder, in order; those of folders end with a slash. */
export function namesIn(folder) {
  return readdirSync(ROOT + folder, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules" && name !== "target" && !name.startsWith("."))
    .map((entry) => entry.isDirectory() ? `${entry.name}/` : entry.name)
    .sort();
}

/** All texts in Markdown that may be pages: those of the root, and those in these folders. */
export const markdown = ["", ...FOLDERS.map((name) => `${name}/`)].flatMap(
  markdownIn,
);

function markdownIn(folder) {
  return namesIn(folder).flatMap((name) => {
    if (name.endsWith(".md")) return [folder + name];
    return name.endsWith("/") && folder !== "" ? markdownIn(folder + name) : [];
  });
}
