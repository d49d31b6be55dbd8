/**
 * All pages of the repository that are written in Markdown.
 *
 * @module
 */

import { ROOT } from "../process.ts";

const LEFT_OUT = new Set([".git", ".cache", "third_party", "node_modules", "coverage", "target"]);

/** The text of each page, by its path in the repository. */
export async function readPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const visit = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(`${ROOT}${folder}`)) {
      if (LEFT_OUT.has(name)) continue;
      const path = `${folder}${name}`;
      if (isDirectory) await visit(`${path}/`);
      else if (name.endsWith(".md")) pages.set(path, await Deno.readTextFile(`${ROOT}${path}`));
    }
  };
  await visit("");
  return new Map([...pages].sort(([one], [other]) => one < other ? -1 : 1));
}
