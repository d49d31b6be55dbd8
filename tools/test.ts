/**
 * The gate: `deno task test` (what a change must pass, within minutes), `test:deep` (what takes longer:
 * Synapse, simulations, benches), and parts of these, `test:unit` and `test:e2e`. `.ci/run` calls the
 * first two.
 *
 * Steps run one after the other, all of them whatever the outcome; the last line is
 * `N passed, N failed`, where a check counts as one and a test run as many as `deno test` counted.
 * With `CI=true` nothing may be skipped.
 *
 * @module
 */

import denoJson from "../deno.json" with { type: "json" };
import vodozemacJson from "../vodozemac-wasm/deno.json" with { type: "json" };
import { checkStructure } from "./check_structure.ts";
import { installDenokv } from "./denokv.ts";
import { installPeers } from "./peers.ts";
import { run } from "./process.ts";
import { siteObstacle } from "./site.ts";
import { findChromium } from "./site/chromium.ts";
import { runtimes } from "./runtimes.ts";
import { findPython, installPython, NO_PYTHON } from "./python.ts";
import { commandResult, denoStep, runSteps, type Step, type StepResult, testResult } from "./step.ts";
import { INSTALLED_SYNAPSE, installSynapse, Synapse } from "./synapse.ts";

const ci = Deno.env.get("CI") === "true";
const temporary = Deno.env.get("TMPDIR") ?? "/tmp";

/**
 * What a test may do: read, see the environment, talk to itself over loopback, look into its own
 * memory, start another Deno, and write to the folder for temporary files.
 *
 * @param programs What else it may start.
 */
const permissionsWith = (...programs: string[]): string[] => [
  "--no-prompt",
  "--allow-read",
  "--allow-env",
  "--allow-sys",
  "--allow-net=127.0.0.1,localhost",
  `--allow-run=${[Deno.execPath(), ...programs].join(",")}`,
  `--allow-write=${temporary}`,
];

const permissions = permissionsWith();

function testStep(name: string, ...args: string[]): Step {
  return {
    name,
    run: async () => testResult(await run("deno", ["test", ...permissions, ...args]), { mayIgnore: !ci }),
  };
}

const structure: Step = {
  name: "structure",
  async run(): Promise<StepResult> {
    const violations = await checkStructure();
    return violations.length === 0
      ? { passed: 1, failed: 0 }
      : { passed: 0, failed: 1, output: violations.join("\n") };
  },
};

/** Types are checked in a step of their own. */
const inProcess: Step = testStep(
  "unit and in-process tests",
  "--no-check",
  "--parallel",
  "--shuffle",
  "--ignore=tests/e2e,tests/site",
  "tests",
);

const unit: Step = {
  name: inProcess.name,
  async run(): Promise<StepResult> {
    const result = await inProcess.run();
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
  return { PYTHON_OLM: await installPython({ name: "libolm", package: "python-olm" }, console.log) };
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

const ways = denoStep("ways, not longer", "task", "--quiet", "ways", "--check");
const speed = denoStep("speed, against the baseline", "task", "--quiet", "bench:guard");

/** The denokv that tests start, or why there is none. */
interface DenokvBuild {
  readonly env: Record<string, string>;
  readonly missing: string[];
}

let building: Promise<DenokvBuild> | undefined;

/**
 * Builds denokv, once. That takes minutes the first time, so it is begun before the steps that
 * don't need it.
 */
function buildDenokv(): Promise<DenokvBuild> {
  return building ??= installDenokv(console.log).then(
    (path) => ({ env: { GREENROOM_DENOKV: path }, missing: [] }),
    (error) => ({ env: {}, missing: [String(error)] }),
  );
}

const synapse: Step = {
  name: "tests against Synapse",
  async run(): Promise<StepResult> {
    const python = await findPython();
    if (python === undefined) return { passed: 0, failed: ci ? 1 : 0, note: NO_PYTHON };
    const peers = await installPeers(console.log);
    const denokv = await buildDenokv();
    const missing = [...peers.missing, ...denokv.missing];
    if (ci && missing.length > 0) return { passed: 0, failed: 1, output: missing.join("\n") };
    const synapsePython = await installSynapse(console.log); // tests of application services start their own
    await using server = await Synapse.start();
    // One that a test has restarted, which may not start one by itself.
    await using restartable = await Synapse.start();
    await using control = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async () => {
      await restartable.restart();
      return new Response();
    });
    const env = {
      GREENROOM_RESTARTABLE_URL: restartable.baseUrl,
      GREENROOM_RESTARTABLE_SECRET: restartable.sharedSecret,
      GREENROOM_RESTARTABLE_CONTROL: `http://127.0.0.1:${control.addr.port}`,
      ...peers.env,
      ...denokv.env,
      GREENROOM_PYTHON: python.command,
      [INSTALLED_SYNAPSE]: synapsePython,
      GREENROOM_SYNAPSE_URL: server.baseUrl,
      GREENROOM_SYNAPSE_NAME: server.serverName,
      GREENROOM_SYNAPSE_SECRET: server.sharedSecret,
      // One Synapse serves all, and under its default limits tests wait more than they compute.
      DENO_JOBS: "4",
    };
    const programs = [python.command, synapsePython, ...Object.values({ ...peers.env, ...denokv.env })];
    const args = [
      "test",
      ...permissionsWith(...programs),
      "--parallel",
      "--ignore=tests/e2e/runtimes",
      "tests/e2e",
    ];
    const result = testResult(await run("deno", args, env), { mayIgnore: !ci });
    const notes = [result.note, ...missing.map((why) => why.split("\n")[0])];
    const output = `${result.output}\nSynapse's log ends with:\n${await server.logTail()}`;
    return { ...result, note: notes.join("; "), output };
  },
};

/** Every page of the site, in Chromium. */
const site: Step = {
  name: "site",
  async run(): Promise<StepResult> {
    const missing = await findChromium() === undefined ? "needs Chromium" : await siteObstacle();
    if (missing !== undefined) {
      return { passed: 0, failed: 0, note: `skipped: it ${missing.split("\n")[0]}` };
    }
    return testResult(await run("deno", ["test", "-A", "tests/site"]), { mayIgnore: !ci });
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

const quick: Step[] = [
  denoStep("format", "fmt", "--check"),
  denoStep("lint", "lint"),
  structure,
  denoStep("types", "check", "."),
  denoStep("documentation", "doc", "--lint", ...Object.values(denoJson.exports), ...vodozemacEntries),
  denoStep("demo", "task", "--quiet", "demo"),
  unit,
  testStep(
    "examples in documentation",
    "--doc",
    "--parallel",
    "mod.ts",
    "types.ts",
    "errors.ts",
    "src",
    "README.md",
    "docs",
  ),
  vodozemac,
  denoStep("publish, dry run", "publish", "--dry-run", "--allow-dirty", "--quiet"),
];

/** Steps in one list run side by side: each uses one core for most of its time, and none is judged by the clock. */
const deep: (Step | Step[])[] = [
  [
    disk,
    denoStep("simulation, 600 seeds", "task", "--quiet", "simulate", "--seeds=1-600"),
    denoStep("vodozemac-wasm, fuzz", "task", "--quiet", "--cwd", VODOZEMAC, "fuzz", "--seconds=10"),
  ],
  [vodozemacBuild, vodozemacBench],
  [cryptoBench, partsBench, peersBench],
  ways,
  speed,
  site,
  synapse,
  runtimes,
  ...(ci ? [lockFile] : []),
];

const selections: Record<string, readonly (Step | Step[])[]> = {
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
  if (steps.includes(synapse)) buildDenokv();
  const { passed, failed } = await runSteps(steps, console.log);
  console.log(`\n${passed} passed, ${failed} failed`);
  Deno.exit(failed === 0 ? 0 : 1);
}
