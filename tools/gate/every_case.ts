/**
 * The tests that try only some of many similar cases, with all of them.
 *
 * @module
 */

import { EVERY_CASE } from "../../tests/support/cases.ts";
import { SPELLING } from "../../tests/support/sliding.ts";
import { run } from "../process.ts";
import { type Step, testResult } from "../step.ts";
import { importGraph } from "../structure/import_graph.ts";
import { ci, permissionsWith } from "./deno_test.ts";
import { testsIn } from "./test_files.ts";

/** Where tests choose among cases. */
const CHOICE = "tests/support/cases.ts";

/** The files of tests that choose among cases, directly or by what they import. */
export async function choosingTests(): Promise<string[]> {
  const edges = await importGraph(await testsIn("tests"));
  const found = new Set([CHOICE]);
  for (const file of found) { // grows as it is walked
    for (const { from, to } of edges) if (to === file) found.add(from);
  }
  return [...found].filter((path) => path.endsWith("_test.ts")).sort();
}

/** All stories of sliding sync, by a homeserver with the merged spelling of it. */
export const mergedSliding: Step = {
  name: "sliding sync, as it was merged",
  async run() {
    const args = ["test", ...permissionsWith(), "--no-check", "--parallel", "tests/client/sliding"];
    return testResult(await run("deno", args, { [SPELLING]: "merged" }), { mayIgnore: !ci });
  },
};

/** A crash at each moment at which a process can crash, and the like. */
export const everyCase: Step = {
  name: "every case, such as crashes",
  async run() {
    const args = ["test", ...permissionsWith(), "--no-check", "--parallel", ...await choosingTests()];
    return testResult(await run("deno", args, { [EVERY_CASE]: "true" }), { mayIgnore: !ci });
  },
};
