/**
 * The gate: `deno task test` (what a change must pass, within minutes), `test:deep` (what takes longer:
 * Synapse, simulations, benches), and parts of these, `test:unit` and `test:e2e`. `.ci/run` calls the
 * first two.
 *
 * Steps run one after the other, or side by side in a list, all of them whatever the outcome. A line says
 * how long each took, by the clock and of the processors. The last line is `N passed, N failed`, where a
 * check counts as one and a test run as many as `deno test` counted.
 * With `CI=true` nothing may be skipped.
 *
 * @module
 */

import denoJson from "../deno.json" with { type: "json" };
import vodozemacJson from "../vodozemac-wasm/deno.json" with { type: "json" };
import { checkStructure } from "./check_structure.ts";
import { ci, permissionsWith, testStep } from "./gate/deno_test.ts";
import { everyCase, mergedSliding } from "./gate/every_case.ts";
import { buildDenokv, synapse } from "./gate/synapse.ts";
import { groupTests, testsIn } from "./gate/test_files.ts";
import { published } from "./package/jsr.ts";
import { run } from "./process.ts";
import { siteObstacle } from "./site.ts";
import { findChromium } from "./site/chromium.ts";
import { runtimes } from "./runtimes.ts";
import { findPython, installPython, LIBOLM } from "./python.ts";
import { commandResult, denoStep, runSteps, type Step, type StepResult, testResult } from "./step.ts";

const structure: Step = {
  name: "structure",
  async run(): Promise<StepResult> {
    const violations = await checkStructure();
    return violations.length === 0
      ? { passed: 1, failed: 0 }
      : { passed: 0, failed: 1, output: violations.join("\n") };
  },
};

/** Tests that leave nothing running, and change nothing that others use: these share workers. */
const GROUPED = /^tests\/(?:api|crypto\/(?!threats\/))/;

/** Types are checked in a step of their own. */
const unit: Step = {
  name: "unit and in-process tests",
  async run(): Promise<StepResult> {
    const files = (await testsIn("tests")).filter((file) => !/^tests\/(?:e2e|site)\//.test(file));
    const options = ["--no-check", "--parallel", "--shuffle", "--config=deno.json"];
    const jobs = `${navigator.hardwareConcurrency + 1}`; // some wait for processes that they start
    const grouped = await groupTests(files.filter((file) => GROUPED.test(file)));
    const alone = files.filter((file) => !GROUPED.test(file));
    const args = ["test", ...permissionsWith(), ...options, ...grouped, ...alone];
    const result = testResult(await run("deno", args, { DENO_JOBS: jobs }), { mayIgnore: !ci });
    const shared = await Deno.stat(new URL("../../shared", import.meta.url)).catch(() => undefined);
    const why = shared === undefined
      ? "; without ../shared beside the repository, what reads it is skipped"
      : "";
    return { ...result, note: `${result.note}${why}` };
  },
};

const VODOZEMAC = "vodozemac-wasm";

/**
 * Built again and compared where the compiler is; where it is not, the hashes of the sources are.
 */
const vodozemacBuild: Step = {
  name: "vodozemac-wasm, build",
  async run(): Promise<StepResult> {
    const result = await run("deno", ["task", "--quiet", "--cwd", VODOZEMAC, "check-build"]);
    return { ...commandResult(result), note: result.output.trim().split("\n").at(-1) };
  },
};

/** The Python that has libolm, to compare with; none where there is no Python. */
async function libolm(): Promise<Record<string, string>> {
  if (await findPython() === undefined) return {};
  return { PYTHON_OLM: await installPython(LIBOLM, console.log) };
}

const vodozemac: Step = {
  name: "vodozemac-wasm, tests",
  async run(): Promise<StepResult> {
    const options = ["--doc", "--parallel", "--allow-read", "--allow-env", "--allow-run", "--no-prompt"];
    const result = await run("deno", ["test", ...options, `${VODOZEMAC}/`], await libolm());
    return testResult(result, { mayIgnore: !ci });
  },
};

/** That it runs, not how fast. */
const vodozemacBench: Step = {
  name: "vodozemac-wasm, bench",
  async run(): Promise<StepResult> {
    const args = ["task", "--quiet", "--cwd", VODOZEMAC, "bench", "--rounds=1"];
    return commandResult(await run("deno", args, await libolm()));
  },
};

/** That it runs, not how fast. */
const cryptoBench = denoStep("encryption, bench", "task", "--quiet", "bench:crypto", "--quick");
const partsBench = denoStep("parts, bench", "task", "--quiet", "bench");
const peersBench = denoStep("side by side, bench", "task", "--quiet", "bench:peers", "--quick");
const firstStartBench = denoStep("first start, bench", "run", "-A", "bench/first_start.ts", "1");

const ways = denoStep("ways, not longer", "task", "--quiet", "ways", "--check");
const speed = denoStep("speed, against the baseline", "task", "--quiet", "bench:guard");

/** Every page of the site, in Chromium. */
const site: Step = {
  name: "site",
  async run(): Promise<StepResult> {
    const missing = await findChromium() === undefined ? "needs Chromium" : await siteObstacle();
    if (missing !== undefined) {
      return { passed: 0, failed: 0, note: `skipped: it ${missing.split("\n")[0]}` };
    }
    return testResult(await run("deno", ["test", "-A", "--no-check", "tests/site"]), { mayIgnore: !ci });
  },
};

/**
 * Whatever Deno has resolved by now stood in the lock file already; while one works on it, it may
 * change.
 */
const lockFile: Step = {
  name: "lock file",
  run: async () => commandResult(await run("git", ["diff", "--exit-code", "--", "deno.lock"])),
};

/** What processes write is recorded by a library in C that is loaded into them, on Linux. */
const disk: Step = {
  name: "a disk that loses power",
  async run(): Promise<StepResult> {
    const compiler = await run("cc", ["--version"]).catch(() => undefined);
    if (compiler === undefined || Deno.build.os !== "linux") {
      return { passed: 0, failed: ci ? 1 : 0, note: "skipped: needs Linux and a compiler of C, cc" };
    }
    const result = await run("deno", ["task", "--quiet", "disk", "--states=400", "--seed=1"]);
    return { ...commandResult(result), note: result.output.trim().split("\n").at(-2) };
  },
};

const vodozemacEntries = Object.values(vodozemacJson.exports).map((path) => `${VODOZEMAC}/${path}`);

const docExamples = testStep(
  "examples in documentation",
  "--doc",
  "--parallel",
  "mod.ts",
  "types.ts",
  "errors.ts",
  "src",
  "README.md",
  "docs",
);

/**
 * Steps in one list run side by side: each uses one core for most of its time,
 * and none is judged by the clock.
 */
type Plan = readonly (Step | readonly Step[])[];

const quick: Plan = [
  [
    denoStep("format", "fmt", "--check"),
    denoStep("lint", "lint"),
    structure,
    denoStep("types", "check", "."),
    denoStep("documentation", "doc", "--lint", ...Object.values(denoJson.exports), ...vodozemacEntries),
    denoStep("demo", "task", "--quiet", "demo"),
  ],
  unit,
  [docExamples, vodozemac, published],
];

const deep: Plan = [
  [
    disk,
    denoStep("simulation, 600 seeds", "task", "--quiet", "simulate", "--seeds=1-600"),
    denoStep("vodozemac-wasm, fuzz", "task", "--quiet", "--cwd", VODOZEMAC, "fuzz", "--seconds=10"),
  ],
  [vodozemacBuild, vodozemacBench, ways],
  [cryptoBench, partsBench, peersBench, firstStartBench],
  [everyCase, mergedSliding, site],
  speed,
  synapse,
  runtimes,
  ...(ci ? [lockFile] : []),
];

const selections: Record<string, Plan> = {
  quick,
  deep,
  unit: [unit],
  e2e: [synapse],
};

if (import.meta.main) {
  const name = Deno.args[0] ?? "quick";
  const steps = selections[name];
  if (steps === undefined) {
    console.error(`Cannot run "${name}": there are only ${Object.keys(selections).join(", ")}`);
    Deno.exit(2);
  }
  // Has all that tests, and what they start, leave behind.
  const temporary = await Deno.makeTempDir({ prefix: "greenroom-test-" });
  await Deno.chmod(temporary, 0o755); // a bot of another user runs in it, too
  Deno.env.set("TMPDIR", temporary);
  if (steps.includes(synapse)) buildDenokv();
  const { passed, failed } = await runSteps(steps, console.log);
  await Deno.remove(temporary, { recursive: true }).catch(() => {}); // something still writes there
  console.log(`\n${passed} passed, ${failed} failed`);
  Deno.exit(failed === 0 ? 0 : 1);
}
