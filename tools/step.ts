/**
 * The steps of the gate: each is run, timed, shown in one line and counted.
 *
 * @module
 */

import { type ProcessResult, run } from "./process.ts";
import { ignoredTests, parseTestSummary } from "./test_summary.ts";

/** What a step came to. */
export interface StepResult {
  /** How many checks or tests passed. */
  passed: number;
  /** How many failed; with none, the step is good. */
  failed: number;
  /** A few words for the step's line: how many tests ran, or why none did. */
  note?: string;
  /** What to show if the step failed. */
  output?: string;
}

/** What is judged of a program that has ended. */
type Ended = Pick<ProcessResult, "code" | "output">;

/** Something that must hold. */
export interface Step {
  /** A few words. */
  name: string;
  /** Finds out whether it holds. */
  run(): Promise<StepResult>;
}

/** A step that holds if `deno` with these arguments exits with 0. It counts as one. */
export function denoStep(name: string, ...args: string[]): Step {
  return { name, run: async () => commandResult(await run("deno", args)) };
}

/** Counts a program that ended as one check. */
export function commandResult({ code, output }: Ended): StepResult {
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1, output: withoutProgress(output) };
}

/** What a test has printed, if the next line says that it passed. */
const OUTPUT_OF_PASSED =
  /^-+ (?:post-test )?output -+\n(?:(?!output end -)[^])*output end -+\n(?=.* \.\.\. ok \()/gm;
/** A line that only says how far Deno has come. */
const PROGRESS = /^(?:(?:Check|Download|Initialize) .*|.* \.\.\. ok \(.*\))\n/gm;

/** What Deno printed, but for its progress and for what tests printed that passed. */
function withoutProgress(output: string): string {
  return output.replaceAll(OUTPUT_OF_PASSED, "").replaceAll(PROGRESS, "");
}

/**
 * Counts what `deno test` reports: every test, and one failure more for a run that broke down
 * outside of them.
 *
 * @param mayIgnore Whether a test that was not run is let pass; if not, it is a failure.
 */
export function testResult({ code, output }: Ended, options: { mayIgnore: boolean }): StepResult {
  const counts = parseTestSummary(output) ?? { passed: 0, failed: 0, ignored: 0 };
  const { passed, ignored } = counts;
  const shown = withoutProgress(output);
  const refused = options.mayIgnore ? 0 : ignored;
  const brokeDown = (code !== 0 && counts.failed === 0) || passed + counts.failed + ignored === 0 ? 1 : 0;
  const skipped = ignored === 0 ? "" : `, ${ignored} skipped`;
  return {
    passed,
    failed: counts.failed + refused + brokeDown,
    note: `${passed} passed${skipped}`,
    output: refused === 0
      ? shown
      : [shown, "Skipped, but with CI=true every test must run:", ...ignoredTests(output)].join("\n"),
  };
}

/**
 * Runs steps, all of them whatever the outcome, and prints a line for each.
 *
 * @param steps Run one after the other; those in a list, side by side.
 * @param print Takes a line of the report.
 * @returns The sum over all steps.
 */
export async function runSteps(
  steps: readonly (Step | readonly Step[])[],
  print: (line: string) => void,
): Promise<{ passed: number; failed: number }> {
  const sum = { passed: 0, failed: 0 };
  for (const group of steps.map((step) => [step].flat())) {
    const stop = stopwatch();
    const isAlone = group.length === 1;
    for (const { passed, failed } of await Promise.all(group.map((one) => runStep(one, print, isAlone)))) {
      sum.passed += passed;
      sum.failed += failed;
    }
    if (!isAlone) print(line("", "these together", stop()));
  }
  return sum;
}

/** How long something took. */
interface Took {
  /** By the clock, in seconds. */
  readonly clock: number;
  /** Of all processors, in seconds; undefined where the system does not say. */
  readonly processors: number | undefined;
}

function stopwatch(): () => Took {
  const [start, before] = [performance.now(), processorSeconds()];
  return () => {
    const now = processorSeconds();
    return {
      clock: (performance.now() - start) / 1000,
      processors: now === undefined || before === undefined ? undefined : now - before,
    };
  };
}

/**
 * What this process has used of the processors, with those that it has started and that have ended; Linux
 * says that.
 */
function processorSeconds(): number | undefined {
  try {
    const [, fields = ""] = Deno.readTextFileSync("/proc/self/stat").split(") ");
    return fields.split(" ").slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
  } catch {
    return undefined;
  }
}

function line(mark: string, name: string, { clock, processors }: Took, note = ""): string {
  const used = processors === undefined ? "" : `${processors.toFixed(1).padStart(7)} s of processors`;
  return `${mark.padEnd(5)} ${name.padEnd(28)} ${clock.toFixed(1).padStart(6)} s ${used}  ${note}`.trimEnd();
}

/** @param isAlone Whether no other step runs, so that all that processors do is done for it. */
async function runStep(step: Step, print: (line: string) => void, isAlone: boolean): Promise<StepResult> {
  const stop = stopwatch();
  const result = await step.run().catch((error: unknown): StepResult => {
    return { passed: 0, failed: 1, output: error instanceof Error ? error.stack : String(error) };
  });
  const { clock, processors } = stop();
  const mark = result.failed > 0 ? "FAIL" : result.passed > 0 ? "ok" : "skip";
  print(line(mark, step.name, { clock, processors: isAlone ? processors : undefined }, result.note));
  if (result.failed > 0 && result.output) print(`${result.output.trimEnd()}\n`);
  return result;
}
