/**
 * Reads the line with which `deno test` ends.
 *
 * @module
 */

/** How many tests of a run did what. */
export interface TestCounts {
  /** Tests that passed. */
  passed: number;
  /** Tests that failed, modules that could not be run included. */
  failed: number;
  /** Tests that were not run. */
  ignored: number;
}

const SUMMARY = /^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \([^)]*\))?(.*)$/gm;

/**
 * The counts of the last summary in what `deno test` printed without colours.
 *
 * @returns `undefined` if there is none: the run did not get as far as the tests.
 */
export function parseTestSummary(output: string): TestCounts | undefined {
  const last = [...output.matchAll(SUMMARY)].at(-1);
  if (last === undefined) return undefined;
  const [, passed, failed, rest = ""] = last;
  const ignored = /\| (\d+) ignored/.exec(rest)?.[1] ?? "0";
  return { passed: Number(passed), failed: Number(failed), ignored: Number(ignored) };
}

/** The names of the tests that were not run. */
export function ignoredTests(output: string): string[] {
  return [...output.matchAll(/^(.*) \.\.\. ignored \(.*\)$/gm)].map(([, name = ""]) => name);
}
