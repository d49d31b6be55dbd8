/**
 * What the tests of other runtimes need, in `.cache/runtimes/`: Node 24, Bun,
 * Chromium where it is or can be had, and an empty project with the npm package in it.
 *
 * @module
 */

import { buildNpm } from "./npm.ts";
import { inTurn, ROOT, run } from "./process.ts";
import { type Step, type StepResult, testResult } from "./step.ts";

const FOLDER = `${ROOT}.cache/runtimes`;
const TOOLS = ["node@24", "bun@1.4.5", "playwright-core@1.65.1", "typescript@5.9.3", "@types/node@24"];

/** The variables that tell tests where things are; and what is missing. */
interface Runtimes {
  readonly env: Record<string, string>;
  readonly missing: string[];
}

/** Installs all that is not there. */
async function installRuntimes(): Promise<Runtimes> {
  const found = await run("npm", ["--version"]).catch(() => undefined);
  if (found?.code !== 0) return { env: {}, missing: ["Node, Bun and browsers: npm is not there"] };
  const tools = await installRuntimeTools();
  const app = tools ?? await npm(`${FOLDER}/app`, [await buildNpm()], { anew: true });
  if (app !== undefined) return { env: {}, missing: [`Node, Bun and browsers: ${app}`] };
  const chromium = await findChromium();
  return {
    env: {
      GREENROOM_RUNTIMES: FOLDER,
      ...(chromium === undefined ? {} : { GREENROOM_CHROMIUM: chromium }),
    },
    missing: chromium === undefined ? ["browsers: there is no Chromium"] : [],
  };
}

/** Installs Node, Bun and what else comes from npm; says what went wrong. */
export function installRuntimeTools(): Promise<string | undefined> {
  return inTurn(`${FOLDER}.lock`, () => npm(`${FOLDER}/tools`, TOOLS));
}

/** Installs packages into a project; says what went wrong. */
async function npm(
  folder: string,
  packages: readonly string[],
  { anew = false } = {},
): Promise<string | undefined> {
  if (anew) await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, '{ "type": "module", "private": true }\n');
  const options = ["--no-audit", "--no-fund", "--no-save", "--prefix", folder];
  const { code, output } = await run("npm", ["install", ...options, ...packages]);
  return code === 0 ? undefined : `npm could not install ${packages.join(", ")}: ${output}`;
}

async function findChromium(): Promise<string | undefined> {
  const find = async (): Promise<string | undefined> => {
    for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
      const { code, stdout } = await run("which", [name]);
      if (code === 0) return stdout.trim();
    }
    return undefined;
  };
  const there = await find();
  if (there !== undefined || Deno.env.get("CI") !== "true" || Deno.uid() !== 0) return there;
  const install = () =>
    run("apt-get", ["install", "-y", "--no-install-recommends", "chromium"]).catch(() => undefined);
  if ((await install())?.code !== 0) {
    await run("apt-get", ["update"]).catch(() => undefined);
    await install();
  }
  return await find();
}

/** The suite of the command line, but for what is of Deno's projects alone: permissions and `deno.json`. */
const CLI_TESTS = ["doctor", "keeping", "login", "oauth", "recovery", "rooms", "seal", "settings", "usage"]
  .map((name) => `tests/cli/${name}_test.ts`);

/** Runs all tests of other runtimes; a report of each run is left in the folder. */
async function runTests(
  env: Record<string, string>,
  test: (args: string[], env: Record<string, string>) => Promise<StepResult>,
): Promise<StepResult[]> {
  const cli = {
    GREENROOM_CLI: [
      `${FOLDER}/tools/node_modules/node/bin/node`,
      `${FOLDER}/app/node_modules/@greenroom/matrix/node/src/cli/mod.js`,
    ].join(" "),
    GREENROOM_NODE_MODULES: `${FOLDER}/app/node_modules`,
  };
  const [own, suite] = REPORTS.map((path) => `--junit-path=${path}`);
  return [
    await test(["test", "-A", own ?? "", "tests/e2e/runtimes"], env),
    await test(["test", "-A", suite ?? "", ...CLI_TESTS], { ...env, ...cli }),
  ];
}

const REPORTS = [`${FOLDER}/own.xml`, `${FOLDER}/cli.xml`] as const;
const COLUMNS = ["Node 24", "Bun", "Chromium"] as const;
const PAGE = `${ROOT}docs/hosts/runtimes.md`;
const BEGIN = "<!-- Written by `deno task test:runtimes --write`: do not edit. -->\n";
const END = "<!-- The end of what is written. -->";

/** Which runtime passed how many tests, as a table. */
async function tableOfPassed(): Promise<string> {
  const counts = new Map<string, number>();
  for (const path of REPORTS) {
    const text = await Deno.readTextFile(path);
    for (const [, name = ""] of text.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<\/testcase>/g)) {
      const isSuite = path === REPORTS[1];
      const runtime = isSuite ? "Node 24" : COLUMNS.find((each) => name.includes(each));
      const what = isSuite || name.includes("greenroom")
        ? "the command line"
        : name.includes("suite for stores")
        ? "stores"
        : "bots and clients";
      const isSummary = what === "stores" && !name.includes(" &gt; ");
      if (runtime === undefined || isSummary) continue;
      const key = `${what} ${runtime}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const rows = ["stores", "bots and clients", "the command line"].map((
    what,
  ) => [what, ...COLUMNS.map((runtime) => String(counts.get(`${what} ${runtime}`) ?? "–"))]);
  const [head, rule] = [["tests passed", ...COLUMNS], ["---", ...COLUMNS.map(() => "---:")]];
  return [head, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

async function writeTable(): Promise<void> {
  const text = await Deno.readTextFile(PAGE);
  const [before = "", after = ""] = [text.split(BEGIN)[0], text.split(END)[1]];
  await Deno.writeTextFile(PAGE, `${before}${BEGIN}\n${await tableOfPassed()}\n${END}${after}`);
  await run("deno", ["fmt", "--quiet", PAGE]);
}

/** The npm package on Node, Bun and in Chromium. */
export const runtimes: Step = {
  name: "Node, Bun and browsers",
  async run(): Promise<StepResult> {
    const mayIgnore = Deno.env.get("CI") !== "true";
    const { env, missing } = await installRuntimes();
    if (!mayIgnore && missing.length > 0) return { passed: 0, failed: 1, output: missing.join("\n") };
    if (env.GREENROOM_RUNTIMES === undefined) return { passed: 0, failed: 0, note: missing.join("; ") };
    const results = await runTests(
      env,
      async (args, given) => testResult(await run("deno", args, given), { mayIgnore }),
    );
    const sum = (kind: "passed" | "failed") => results.reduce((count, result) => count + result[kind], 0);
    const notes = missing.map((what) => `skipped: ${what.split("\n")[0]}`);
    return {
      ...{ passed: sum("passed"), failed: sum("failed") },
      note: [...results.map(({ note }) => note), ...notes].join("; "),
      output: results.map(({ output }) => output).join("\n"),
    };
  },
};

if (import.meta.main) {
  const { env, missing } = await installRuntimes();
  missing.forEach((what) => console.log(`Skipped, ${what}`));
  if (env.GREENROOM_RUNTIMES === undefined) Deno.exit(1);
  const results = await runTests(env, async (args, given) => {
    const { success } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT, env: given }).spawn()
      .status;
    return { passed: 0, failed: success ? 0 : 1 };
  });
  if (results.some(({ failed }) => failed > 0)) Deno.exit(1);
  if (Deno.args.includes("--write")) await writeTable();
  else console.log(await tableOfPassed());
}
