/**
 * Whether anything has become slower:
 * `deno task bench:guard [--baseline=COMMIT] [--rounds=3] [--rows=TEXT] [--planted=15]`.
 *
 * Our own contestants of `bench:peers`, by the files of the baseline and by those that are here, do
 * the same jobs in step, response by response; what counts is the median of the rounds' ratios. A row that
 * lost more than it may is measured twice more, with more rounds, before it counts, and the
 * functions that lost most are shown. The exit code is 1 if a row is slower.
 *
 * Processor time decides, as that is what a busy machine leaves alone; on the clock a row may lose
 * more. The limit of `bench:peers` plays along: many small losses, with a baseline that moves, show
 * in what a row takes of that.
 *
 * With `--rows` only the rows are measured whose names have a text. With `--planted=15` what is here
 * loses so many percent in every row of jobs and starts: each must be found.
 *
 * @module
 */

import { ROOT } from "../tools/process.ts";
import { BASELINE, LIMITS, MOST_BYTES } from "./guard/baseline.ts";
import { Checkout } from "./guard/checkout.ts";
import { preloaded } from "./guard/preloaded.ts";
import { profileTable } from "./guard/profile.ts";
import { bundle } from "./peers/bundle_sizes.ts";
import { ENCRYPTED, type Entrant, greenroom, limit } from "./peers/entrants.ts";
import { isEncrypted, type JobName, type PlanName } from "./peers/inputs/plan.ts";
import { type Figure, playersOf, playRounds, type Standing, times } from "./peers/rounds.ts";
import { type Idle, measureIdle, measureStarts } from "./peers/start_and_idle.ts";
import { Stub } from "./peers/stub/stub_process.ts";
import { number } from "./support/markdown.ts";
import { medianRatio } from "./support/statistics.ts";

const ROUNDS = Number(Deno.args.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? 3);
const WANTED = Deno.args.find((arg) => arg.startsWith("--rows="))?.slice(7) ?? "";
/** Percent of a loss that is planted, to see that it is found. */
const PLANTED = Deno.args.find((arg) => arg.startsWith("--planted="))?.slice(10);
const COMMIT = Deno.args.find((arg) => arg.startsWith("--baseline="))?.slice(11) ?? BASELINE;
/** A young generation so large that no job pays for what the one before it has left behind. */
const HEAP = ",--min-semi-space-size=64,--semi-space-growth-factor=1";
/** What a row may be, × the baseline. */
const MOST = { cpu: 1.1, wall: 1.3, memory: 1.1, bytes: 1.02 } as const;
/** The plans, and how many times as many rounds they have. */
const PLANS: Partial<Record<PlanName, number>> = { play: 1, first: 4, crypt: 1, firstcrypt: 4 };
const STARTS = 5;
const CLIENTS = 50;

/** The same contestant by the baseline's files and by those that are here. */
type Pair = readonly [before: Entrant, now: Entrant];

/** What became of something, × the baseline. */
interface Row {
  readonly name: string;
  readonly ratios: Partial<Record<keyof typeof MOST, number>>;
  /** Processor time, × the limit. */
  readonly limit?: number;
  /** The size, if that is what it is about. */
  readonly bytes?: number;
}

function isSlower({ name, ratios, limit = 0, bytes = 0 }: Row): boolean {
  return limit > (LIMITS[name] ?? Infinity) || bytes > MOST_BYTES ||
    Object.entries(ratios).some(([figure, ratio]) => ratio > MOST[figure as keyof typeof MOST]);
}

function isWanted({ name }: Pick<Row, "name">): boolean {
  return name.includes(WANTED);
}

/** How the contestants of a plan are called. */
function flagsOf(plan: PlanName): string[] {
  return isEncrypted(plan) ? [ENCRYPTED] : [];
}

function nameOf({ name }: Entrant, plan: PlanName, job: JobName): string {
  return `${name}${isEncrypted(plan) ? ", encrypted" : ""}: ${job}`;
}

/** Jobs of a contestant. */
async function jobRows(
  stub: Stub,
  { plan, jobs, pair: [before, now], rounds }: {
    readonly plan: PlanName;
    readonly jobs: readonly JobName[];
    readonly pair: Pair;
    readonly rounds: number;
  },
): Promise<Row[]> {
  const base = withHeap(limit(...flagsOf(plan)));
  const groups = [await playersOf(stub, plan, [base, before, now])];
  const [[bare, old, current] = []] = await playRounds({ stub, groups, rounds });
  if (bare === undefined || old === undefined || current === undefined) return [];
  const ratio = (job: JobName, figure: Figure, base: Standing) => times(current, base, { job, figure });
  return jobs.map((job) => ({
    name: nameOf(now, plan, job),
    ratios: { cpu: ratio(job, "cpu", old), wall: ratio(job, "wall", old) },
    limit: ratio(job, "cpu", bare),
  })).filter(isWanted);
}

/** The jobs that are measured by a plan: all, but for the initial sync where there are others. */
async function measuredJobs(stub: Stub, plan: PlanName): Promise<JobName[]> {
  const jobs = (await stub.jobs(plan)).map(({ name }) => name);
  return jobs.length === 1 ? jobs : jobs.filter((job) => job !== "initial");
}

/** What is here; slower if that is asked for. */
function planted(entrant: Entrant): Entrant {
  return PLANTED === undefined ? entrant : preloaded(entrant, "slowed.ts", { GREENROOM_PLANTED: PLANTED });
}

function withHeap({ args, ...rest }: Entrant): Entrant {
  const flags = args.map((arg) => arg.startsWith("--v8-flags=") ? arg + HEAP : arg);
  return preloaded({ ...rest, args: flags }, "collected.ts");
}

/** Processor time of a start, and memory of a client that waits. */
async function quietRows(stub: Stub, pair: Pair, starts: number): Promise<Row[]> {
  const cpu = (await measureStarts(stub, pair, starts))
    .map(({ answers }) => answers.map(({ cpu = NaN }) => cpu)) as [number[], number[]];
  const [before, now] = (await measureIdle(stub, pair, [1, CLIENTS])) as [Idle, Idle];
  return [
    { name: `${now.name}: start`, ratios: { cpu: medianRatio(cpu[1], cpu[0]) } },
    { name: `${now.name}: one more idle client`, ratios: { memory: now.each / before.each } },
  ];
}

/** The size of what a program loads. */
async function bundleRow(baseline: Checkout): Promise<Row> {
  const output = await Deno.makeTempFile({ prefix: "greenroom-guard-" });
  try {
    const [before, now] = [
      await bundle(`${baseline.folder}mod.ts`, output, [], baseline.folder),
      await bundle(`${ROOT}mod.ts`, output),
    ];
    return { name: "bundle", ratios: { bytes: now.length / before.length }, bytes: now.length };
  } finally {
    await Deno.remove(output);
  }
}

function say({ name, ratios, limit, bytes }: Row): void {
  const figures = Object.entries(ratios).map(([figure, ratio]) => `${figure} ${number(ratio)}`);
  if (limit !== undefined) figures.push(`${number(limit)} × the limit, at most ${LIMITS[name]}`);
  if (bytes !== undefined) figures.push(`${number(bytes)} bytes, at most ${number(MOST_BYTES)}`);
  console.log(`${name.padEnd(46)} ${figures.join(", ")}`);
}

/** The rows that are slower in each of three measurements, with more rounds each. */
async function slowerRows(measure: (times: number) => Promise<Row[]>): Promise<Row[]> {
  let slower: Row[] | undefined;
  for (const times of [1, 2, 5]) {
    const rows = await measure(times);
    const suspects: readonly Row[] = slower ?? rows;
    const measured = rows.filter((row) => suspects.some(({ name }) => name === row.name));
    if (slower !== undefined) console.log(`again, ${times} × the rounds:`);
    measured.forEach(say);
    slower = measured.filter(isSlower);
    if (slower.length === 0) return [];
  }
  return slower ?? [];
}

async function main(): Promise<boolean> {
  await using baseline = await Checkout.of(COMMIT);
  if (baseline === undefined) {
    console.log(`Not compared: this clone has no commit ${COMMIT}`);
    return true;
  }
  await using stub = await Stub.start([]);
  console.log(`× ${COMMIT.slice(0, 8)}: more is slower, or larger`);
  const pair = (entrant: Entrant): Pair => [baseline.entrant(entrant), planted(entrant)];
  const jobPair = (entrant: Entrant) => pair(entrant).map(withHeap) as [Entrant, Entrant];
  const slower: Row[] = [];
  for (const [plan, more] of Object.entries(PLANS) as [PlanName, number][]) {
    const jobs = await measuredJobs(stub, plan);
    for (const entrant of greenroom(...flagsOf(plan)).slice(0, 2)) {
      if (!jobs.some((job) => isWanted({ name: nameOf(entrant, plan, job) }))) continue;
      const pair = jobPair(entrant);
      const rows = await slowerRows((times) =>
        jobRows(stub, { plan, jobs, pair, rounds: times * more * ROUNDS })
      );
      if (rows.length > 0) console.log(await profileTable(stub.url, pair));
      slower.push(...rows);
    }
  }
  if (WANTED === "") {
    for (const entrant of greenroom().slice(0, 1)) {
      slower.push(...await slowerRows((times) => quietRows(stub, pair(entrant), times * STARTS)));
    }
    const bundle = await bundleRow(baseline);
    say(bundle);
    if (isSlower(bundle)) slower.push(bundle);
  }
  if (slower.length > 0) console.log(`slower: ${slower.map(({ name }) => name).join("; ")}`);
  return slower.length === 0;
}

if (import.meta.main) Deno.exitCode = await main() ? 0 : 1;
