/**
 * What the tests of other runtimes need, in `.cache/runtimes/`: Node 24, Bun, Chromium where it is or can be had, and
 * an empty project with the npm package in it.
 *
 * @module
 */

import { buildNpm } from "./npm.ts";
import { ROOT, run } from "./process.ts";
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
  const tools = await npm(`${FOLDER}/tools`, TOOLS);
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

/** The npm package on Node, Bun and in Chromium. */
export const runtimes: Step = {
  name: "Node, Bun and browsers",
  async run(): Promise<StepResult> {
    const mayIgnore = Deno.env.get("CI") !== "true";
    const { env, missing } = await installRuntimes();
    if (!mayIgnore && missing.length > 0) return { passed: 0, failed: 1, output: missing.join("\n") };
    const result = testResult(await run("deno", ["test", "-A", "tests/e2e/runtimes"], env), { mayIgnore });
    const notes = missing.map((what) => `skipped: ${what.split("\n")[0]}`);
    return { ...result, note: [result.note, ...notes].join("; ") };
  },
};

if (import.meta.main) {
  const { env, missing } = await installRuntimes();
  missing.forEach((what) => console.log(`Skipped, ${what}`));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "tests/e2e/runtimes"],
    cwd: ROOT,
    env,
  }).spawn();
  Deno.exit((await child.status).code);
}
