/**
 * The tests against Synapse, with all that they talk to.
 *
 * @module
 */

import { installDenokv } from "../denokv.ts";
import { installPeers } from "../peers.ts";
import { run } from "../process.ts";
import { findPython, NO_PYTHON } from "../python.ts";
import { type Step, type StepResult, testResult } from "../step.ts";
import { INSTALLED_SYNAPSE, installSynapse, Synapse } from "../synapse.ts";
import { ci, permissionsWith } from "./deno_test.ts";
import { testsIn } from "./test_files.ts";

/** After how long they are taken to hang, in milliseconds: far longer than an idle machine takes. */
const LIMIT = 60 * 60_000;

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
export function buildDenokv(): Promise<DenokvBuild> {
  return building ??= installDenokv(console.log).then(
    (path) => ({ env: { GREENROOM_DENOKV: path }, missing: [] }),
    (error) => ({ env: {}, missing: [String(error)] }),
  );
}

/** The files that take minutes. They begin first, so that none of them runs on alone at the end. */
const LONG = /^tests\/e2e\/(?:lives\/|kill9|interop\/restart)/;

async function testFiles(): Promise<string[]> {
  const files = (await testsIn("tests/e2e")).filter((file) => !file.startsWith("tests/e2e/runtimes/"));
  return [...files.filter((file) => LONG.test(file)), ...files.filter((file) => !LONG.test(file))];
}

/** One Synapse for all of them, and one that they may restart. */
export const synapse: Step = {
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
      // Tests wait for each other and for limits of Synapse more than they compute.
      DENO_JOBS: "6",
    };
    const programs = [python.command, synapsePython, ...Object.values({ ...peers.env, ...denokv.env })];
    const args = [
      "test",
      ...permissionsWith(...programs),
      "--no-check",
      "--parallel",
      ...await testFiles(),
    ];
    const result = testResult(await run("deno", args, env, { limit: LIMIT }), { mayIgnore: !ci });
    const notes = [result.note, ...missing.map((why) => why.split("\n")[0])];
    const output = `${result.output}\nSynapse's log ends with:\n${await server.logTail()}`;
    return { ...result, note: notes.join("; "), output };
  },
};
