/**
 * Puts mistakes into a copy of the sources, one after the other, and sees whether the simulator
 * finds them.
 *
 * `deno task bite [--seeds=1-10000] [--only=PATTERN] [--jobs=1] [--minutes=30] [--kit] [--service]
 * [--trust] [--history] [--favour=ACTION]`
 *
 * A mistake that shows in some worlds alone is hunted there, unless the options say where.
 *
 * Prints a line for each mistake: the first seed that found it, and what was violated. The exit code
 * is 1 if one was not found, or does not fit the sources any more.
 *
 * @module
 */

import { dirname } from "node:path";
import { linesOf } from "../../tests/e2e/support/peer/peer_lines.ts";
import { ROOT, run } from "../../tools/process.ts";
import { type Bug, BUGS } from "./bugs.ts";
import { WORLD_OPTIONS } from "./world/plan.ts";

/** What the simulator needs. */
const NEEDED = /\.(?:ts|js|json|wasm|lock)$/;

/** The seed that found a mistake, and what it saw. */
interface Finding {
  readonly seed: number;
  readonly violation: string;
}

/**
 * Whether only worlds with bots of the kit are played,
 * or with an application service, and what happens often.
 */
const WORLDS = Deno.args.filter((arg) => WORLD_OPTIONS.has(arg) || /^--(?:favour|quirk)=/.test(arg));

const options: ReadonlyMap<string, string> = new Map(Deno.args.map((arg) => {
  const [name = "", value = ""] = arg.replace(/^--/, "").split("=");
  return [name, value];
}));

/** How long to hunt for one mistake, in milliseconds. */
const LONGEST_HUNT = Number(options.get("minutes") ?? 30) * 60_000;

/** Copies the files that git tracks into a folder of their own. */
async function copyTree(): Promise<string> {
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  const root = `${await Deno.makeTempDir({ prefix: "bite-" })}/`;
  for (const path of stdout.split("\0").filter((path) => NEEDED.test(path) && !path.startsWith(".cache"))) {
    await Deno.mkdir(dirname(root + path), { recursive: true });
    await Deno.copyFile(ROOT + path, root + path).catch(() => {}); // one that was moved and not committed
  }
  return root;
}

/** Has one worker of the simulator play seeds in a tree until it finds something. */
async function hunt(root: string, seeds: string, worlds: readonly string[]): Promise<Finding | string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "bench/simulation/simulate.ts",
      `--work=${seeds}-1`,
      "--first",
      ...worlds,
    ],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, LONGEST_HUNT);
  let found: Finding | undefined;
  for await (const line of linesOf(child.stdout)) {
    if (line.startsWith("{")) found ??= JSON.parse(line).violations[0];
  }
  const { code } = await child.status;
  clearTimeout(timer);
  if (found !== undefined) return found;
  if (isLate) return "not found in time";
  return code === 0 ? "not found" : "the simulator does not run";
}

/**
 * Puts one mistake into a tree, hunts for it, and takes it out again. A seed that finds something
 * without the mistake, too, does not count.
 */
async function tryBug(
  root: string,
  { path, find, replace, worlds: likely = [] }: Bug,
): Promise<Finding | string> {
  const text = await Deno.readTextFile(root + path).catch(() => "");
  if (text.split(find).length !== 2) return "does not fit the sources any more";
  const [first = 1, last = first] = (options.get("seeds") ?? "1-10000").split("-").map(Number);
  const worlds = WORLDS.length > 0 ? WORLDS : likely;
  for (let from = first; from <= last;) {
    await Deno.writeTextFile(root + path, text.replace(find, () => replace));
    const finding = await hunt(root, `${from}-${last}`, worlds)
      .finally(() => Deno.writeTextFile(root + path, text));
    if (typeof finding === "string") return finding;
    const own = `${finding.seed}-${finding.seed}`;
    if (typeof await hunt(root, own, worlds) === "string") return finding;
    from = finding.seed + 1;
  }
  return "not found";
}

async function main(): Promise<boolean> {
  const only = new RegExp(options.get("only") ?? "");
  const left = BUGS.filter(({ name }) => only.test(name));
  const total = left.length;
  let [found, done] = [0, 0];
  const work = async (): Promise<void> => {
    const root = await copyTree();
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
      const finding = await tryBug(root, bug);
      const isFound = typeof finding !== "string";
      if (isFound) found++;
      const outcome = isFound ? `seed ${finding.seed}: ${finding.violation}` : finding;
      console.log(`${isFound ? "found" : "MISSED"} ${++done}/${total} ${bug.name}: ${outcome}`);
    }
    await Deno.remove(root, { recursive: true });
  };
  await Promise.all(Array.from({ length: Number(options.get("jobs") ?? 1) }, work));
  console.log(`${found} of ${total} mistakes were found`);
  return found === total;
}

if (import.meta.main) Deno.exit(await main() ? 0 : 1);
