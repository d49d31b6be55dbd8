/**
 * Which files have tests, and in what groups they run.
 *
 * @module
 */

import { ROOT } from "../process.ts";

/**
 * How many files run in one worker. Each worker loads and warms up anew what its files import, which takes
 * longer than most tests do.
 */
const GROUP = 12;

/** All files of tests in a folder, sorted. */
export async function testsIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(ROOT + folder)) {
    if (isDirectory) found.push(...await testsIn(`${folder}/${name}`));
    else if (name.endsWith("_test.ts")) found.push(`${folder}/${name}`);
  }
  return found.sort();
}

/**
 * Writes a module for each group of files, in a new folder for temporary files. `deno test` runs it in one
 * worker, and names the file of a test that fails.
 *
 * @param files Neighbours, which import much the same, come into one group.
 */
export async function groupTests(files: readonly string[]): Promise<string[]> {
  const folder = await Deno.makeTempDir();
  const groups: string[] = [];
  for (let at = 0; at < files.length; at += GROUP) {
    const path = `${folder}/${groups.length}_test.ts`;
    const imports = files.slice(at, at + GROUP).map((file) =>
      `import ${JSON.stringify(`file://${ROOT}${file}`)};\n`
    );
    await Deno.writeTextFile(path, imports.join(""));
    groups.push(path);
  }
  return groups;
}
