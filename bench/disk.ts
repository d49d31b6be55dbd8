/**
 * A disk that loses power: are the stores in files whole after it, and is everything there that a
 * commit was acknowledged for?
 *
 * `deno task disk [--states=NUMBER] [--seed=NUMBER] [--store=KIND] [--keep=FOLDER]`
 *
 * Processes that commit to a store are recorded: every write, sync, truncation, creation and
 * removal of its files (by `disk/recorder.c`, for which a C compiler, `cc`, is needed). From the
 * recording, states are made that a power cut may have left (`disk/disk.ts`), and the store is
 * opened on each. The exit code is 1 if a state is not as it must be, or if all are although the
 * syncs of a file were left out of the recording. With `--keep`, the files of wrong states are kept
 * in a folder. `disk/store_kind.ts` has the kinds of stores. Linux only.
 *
 * @module
 */

import type { TrialResult } from "./disk/trial.ts";
import { diskRun } from "./disk/run.ts";

/** How many problems are printed, and kept, of each workload. */
const TOLD = 20;

async function main(args: readonly string[]): Promise<boolean> {
  const option = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const states = Number(option("states") ?? 20_000);
  const seed = Number(option("seed") ?? Date.now() % 1_000_000);
  console.log(`${states} states, seed ${seed}`);
  const results = await diskRun({ states, seed, store: option("store"), print: console.log });
  console.table(results.map(({ counts }) => counts));
  for (const result of results) await report(result, option("keep"));
  const opened = results.reduce((sum, { counts }) => sum + counts.states, 0);
  console.log(`${opened} states opened`);
  return results.length > 0 && results.every(({ problems, isBlind }) => problems.length === 0 && !isBlind);
}

async function report({ counts, problems, isBlind }: TrialResult, keep: string | undefined): Promise<void> {
  const of = `${counts.store}, ${counts.workload}`;
  if (isBlind) console.log(`${of}: nothing was found where a file was not synced`);
  for (const [index, { text, files }] of problems.slice(0, TOLD).entries()) {
    console.log(`${of}: ${text}`);
    if (keep === undefined) continue;
    const folder = `${keep}/${counts.store}-${counts.workload.replaceAll(" ", "-")}-${index}`;
    await Deno.mkdir(folder, { recursive: true });
    for (const [name, bytes] of files) await Deno.writeFile(`${folder}/${name}`, bytes);
  }
}

if (import.meta.main) {
  const passed = await main(Deno.args);
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
