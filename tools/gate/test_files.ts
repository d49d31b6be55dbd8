/**
 * Which files have tests.
 *
 * @module
 */

import { ROOT } from "../process.ts";

/** All files of tests in a folder, sorted. */
export async function testsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(ROOT + folder)) {
    if (isDirectory) found.push(...await testsIn(`${folder}/${name}`));
    else if (name.endsWith("_test.ts")) found.push(`${folder}/${name}`);
  }
  return found.sort();
}
