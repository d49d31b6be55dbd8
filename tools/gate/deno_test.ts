/**
 * Steps that run tests, with what these may do.
 *
 * @module
 */

import { run } from "../process.ts";
import { type Step, testResult } from "../step.ts";

/** Whether no test may be skipped. */
export const ci: boolean = Deno.env.get("CI") === "true";

/**
 * What a test may do: read, see the environment, talk to itself over loopback, look into its own
 * memory, start another Deno, and write to the folder for temporary files.
 *
 * @param programs What else it may start.
 */
export const permissionsWith = (...programs: string[]): string[] => [
  "--no-prompt",
  "--allow-read",
  "--allow-env",
  "--allow-sys",
  "--allow-net=127.0.0.1,localhost",
  `--allow-run=${[Deno.execPath(), ...programs].join(",")}`,
  `--allow-write=${Deno.env.get("TMPDIR") ?? "/tmp"}`,
];

/** Runs tests that start nothing but Deno. */
export function testStep(name: string, ...args: string[]): Step {
  return {
    name,
    run: async () =>
      testResult(await run("deno", ["test", ...permissionsWith(), ...args]), { mayIgnore: !ci }),
  };
}
