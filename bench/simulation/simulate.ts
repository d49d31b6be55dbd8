/**
 * Worlds of clients, a homeserver and everything that can go wrong, on virtual time: each from one
 * seed, which replays exactly.
 *
 * `deno task simulate [--seeds=1-1000] [--seed=N] [--hours=H] [--coverage] [--reader]
 * [--favour=ACTION] [--aim=CELL] [--cells] [--quirk=NAME] [--quirks] [--kit] [--service] [--trust]
 * [--vouched] [--history] [--sliding]`
 *
 * With `--seed` the trace of that seed is printed. With `--hours` seeds go on until the time is up. With
 * `--favour` an action happens often: that gives other stories for the same seeds. With `--aim` stories aim
 * at a cell of the table, as `commit outbox | crash after`; with `--cells` each cell is aimed at until it is
 * reached. With `--kit` only worlds are played whose bots are bots of the kit. With `--service` only worlds
 * with an application service are played, with `--trust` those whose users have recovery keys, and with
 * `--vouched` those where all of them vouch for their devices. With `--quirks` only worlds are played whose
 * homeserver has quirks; with `--quirk` each has the one of a name, or those of some names with commas
 * between, or with `--quirk=none` none. With `--sliding` only worlds are played whose clients use sliding
 * sync. With `--history` only worlds are played whose clients share history with who is invited. With
 * `--reader` libolm reads along as a member of all rooms. A violation is printed with the least of its story
 * that still leads to it; the exit code is 1.
 *
 * @module
 */

import { availableParallelism } from "node:os";
import { Coverage } from "./coverage.ts";
import { play } from "./play.ts";
import { aimOf, huntCells } from "./cells.ts";
import { judgeTraffic } from "./reader/world_reader.ts";
import { LibolmReader } from "./reader/libolm_reader.ts";
import { report } from "./report.ts";
import { installPython, LIBOLM } from "../../tools/python.ts";
import { linesOf } from "../../tests/e2e/support/peer/peer_lines.ts";
import { storyOf, type StoryOptions } from "./story.ts";
import { quirksNamed } from "./quirks/quirks.ts";
import { WORLD_OPTIONS } from "./world/plan.ts";

/** What a worker process prints, one line of JSON for each portion of seeds. */
interface Portion {
  readonly seeds: number;
  readonly reached: Record<string, number>;
  readonly violations: readonly { readonly seed: number; readonly violation: string }[];
}

const HOUR = 3_600_000;
const READ_BY_LIBOLM: ReadonlyMap<string, number> = new Map([["message: read by libolm", 1]]);
/** How many seeds are played between two lines of a worker. */
const PORTION = 50;
/** How many violations are shrunk and printed. */
const MOST_REPORTS = 5;

/** How much a worker allocates before the short-lived half of it is thrown away: most of a world is. */
const YOUNG = "--v8-flags=--min-semi-space-size=64,--max-semi-space-size=64";

const now = performance.now.bind(performance);
/** Whether libolm reads along. */
const hasReader = Deno.args.includes("--reader");
/** Whether a worker ends with the first violation. */
const isFirst = Deno.args.includes("--first");

/** Which worlds are left out. */
const worldOptions = Deno.args.filter((arg) => WORLD_OPTIONS.has(arg));
/** What happens often, and what is aimed at. */
const storyOptions: StoryOptions = {
  favoured: option("favour"),
  aim: aimOf(option("aim")),
  quirks: quirksNamed(option("quirk")),
};

/** The value of an option `--name=value`. */
function option(name: string): string | undefined {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

/** Plays every so manieth of some seeds, and prints what came of them. */
async function work(from: number, to: number, step: number, until: number): Promise<void> {
  let portion = { seeds: 0, violations: [] as { seed: number; violation: string }[] };
  let coverage = new Coverage();
  const print = () => {
    const line: Portion = { ...portion, reached: Object.fromEntries(coverage.counts) };
    console.log(JSON.stringify(line));
    portion = { seeds: 0, violations: [] };
    coverage = new Coverage();
  };
  await using reader = hasReader ? new LibolmReader(await installPython(LIBOLM, console.error)) : undefined;
  for (let seed = from; seed <= to && now() < until; seed += step) {
    const story = storyOf(seed, storyOptions);
    if (!worldOptions.every((each) => WORLD_OPTIONS.get(each)?.(story.plan))) continue;
    const { violations: seen, reached, read } = await play(story, { hasReader });
    const reading = read && await reader?.read(read.traffic);
    const violations = [...seen, ...read && reading ? judgeTraffic(read, reading) : []];
    portion.seeds++;
    coverage.add(reached);
    for (const _ of Object.keys(reading?.decrypted ?? {})) coverage.add(READ_BY_LIBOLM);
    if (violations[0] !== undefined) {
      portion.violations.push({ seed, violation: violations[0] });
      if (isFirst) break;
    }
    if (portion.seeds === PORTION) print();
  }
  print();
}

/** Has worker processes play seeds, one for each core. */
async function simulate(from: number, to: number, hours: number | undefined): Promise<boolean> {
  const begun = now();
  const workers = availableParallelism();
  const coverage = new Coverage();
  const violations: { seed: number; violation: string }[] = [];
  let [seeds, lastPrinted] = [0, 0];
  await Promise.all(Array.from({ length: workers }, async (_, index) => {
    const range = `--work=${from + index}-${hours === undefined ? to : Number.MAX_SAFE_INTEGER}-${workers}`;
    const more = [range, `--hours=${hours ?? 0}`, ...hasReader ? ["--reader"] : [], ...worldOptions];
    more.push(...Deno.args.filter((arg) => /^--(?:favour|aim|quirk)=/.test(arg)));
    const args = ["run", "-A", "--no-check", YOUNG, import.meta.filename ?? "", ...more];
    const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
    for await (const line of linesOf(child.stdout)) {
      if (!line.startsWith("{")) continue;
      const portion: Portion = JSON.parse(line);
      seeds += portion.seeds;
      coverage.add(new Map(Object.entries(portion.reached)));
      for (const each of portion.violations) {
        violations.push(each);
        console.log(`seed ${each.seed}: ${each.violation}`);
      }
      const minutes = Math.floor((now() - begun) / 60_000);
      if (minutes > lastPrinted) {
        lastPrinted = minutes;
        console.log(`${seeds} seeds in ${minutes} minutes, ${violations.length} with a violation`);
      }
    }
    const { success } = await child.status;
    if (!success) violations.push({ seed: 0, violation: "a worker process failed" });
  }));
  const kinds = new Map(
    violations.toReversed().map((each) => [each.violation.replaceAll(/\S*\d\S*/g, "…"), each]),
  );
  for (const { seed, violation } of [...kinds.values()].slice(0, MOST_REPORTS)) {
    if (seed > 0) await report(storyOf(seed, storyOptions), violation, console.log);
  }
  if (Deno.args.includes("--coverage")) coverage.print(console.log);
  console.log(
    `${seeds} seeds, ${violations.length} with a violation, ${((now() - begun) / 1_000).toFixed(0)} seconds`,
  );
  return violations.length === 0;
}

/** Plays one seed and prints all that happened. */
async function replay(seed: number): Promise<boolean> {
  const story = storyOf(seed, storyOptions);
  const { lines, violations, digest } = await play(story, { keeps: true });
  console.log(lines.join("\n"));
  console.log(`digest ${digest}`);
  const [violation] = violations;
  if (violation === undefined) return true;
  await report(story, violation, console.log);
  return false;
}

if (import.meta.main) {
  const [hours, seed, seeds, range] = [option("hours"), option("seed"), option("seeds"), option("work")];
  if (range !== undefined) {
    const [from = 1, to = 1, step = 1] = range.split("-").map(Number);
    await work(from, to, step, Number(hours) > 0 ? now() + Number(hours) * HOUR : Infinity);
  } else {
    const [from = 1, to = from] = (seeds ?? "1-1000").split("-").map(Number);
    const isGood = Deno.args.includes("--cells")
      ? await huntCells(console.log)
      : seed === undefined
      ? await simulate(from, to, hours === undefined ? undefined : Number(hours))
      : await replay(Number(seed));
    Deno.exit(isGood ? 0 : 1);
  }
}
