/**
 * Tests that need a denokv: each starts its own.
 *
 * @module
 */

import { Denokv, hasDenokv, installDenokv, NO_CARGO } from "../../../tools/denokv.ts";

const mustRun = Deno.env.get("CI") === "true";

/**
 * Whether tests with denokv are skipped: it is not there, and can't be built; but never with
 * `CI=true`.
 */
export const withoutDenokv: boolean = !mustRun && Deno.env.get("GREENROOM_DENOKV") === undefined &&
  !await hasDenokv();

if (withoutDenokv) console.log(`Skipping the tests with denokv: ${NO_CARGO}`);
else if (Deno.env.get("GREENROOM_DENOKV") === undefined) {
  Deno.test.beforeAll(async () => void await installDenokv(console.log));
}

/** Defines a test with a denokv of its own. */
export function denokvTest(name: string, test: (server: Denokv) => Promise<void>): void {
  Deno.test({
    name,
    ignore: withoutDenokv,
    async fn() {
      await using server = await Denokv.start();
      await test(server);
    },
  });
}
