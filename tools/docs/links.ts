/**
 * Whether the links of pages to one another, and to files of the repository, lead somewhere.
 *
 * @module
 */

import { posix } from "node:path";
import { ROOT } from "../process.ts";
import { readPage } from "./markdown.ts";

/** Links that lead nowhere, each with its page. */
export async function brokenLinks(pages: ReadonlyMap<string, string>): Promise<string[]> {
  const read = new Map([...pages].map(([path, text]) => [path, readPage(text)]));
  const broken: string[] = [];
  for (const [path, { links }] of read) {
    for (const link of links) {
      if (/^[a-z][a-z\d+.-]*:/i.test(link)) continue;
      const [file = "", anchor] = decodeURIComponent(link).split("#");
      const target = file === "" ? path : posix.join(posix.dirname(path), file);
      if (!await exists(target)) broken.push(`${path}: ${link}: there is no such file`);
      else if (anchor && read.get(target)?.anchors.has(anchor) === false) {
        broken.push(`${path}: ${link}: there is no such heading`);
      }
    }
  }
  return broken;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(`${ROOT}${path}`).then(() => true, () => false);
}
