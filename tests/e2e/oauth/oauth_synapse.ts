/**
 * A Synapse whose users log in at an authorization server, one for each test file.
 *
 * @module
 */

import { OAuthServer } from "../../../tools/oauth_server.ts";
import { findPython } from "../../../tools/python.ts";
import { Synapse } from "../../../tools/synapse.ts";

const missing = Deno.env.get("CI") !== "true" && await findPython() === undefined;

/** What a test talks to. */
export interface OAuthSynapse {
  readonly synapse: Synapse;
  readonly oauth: OAuthServer;
}

let running: OAuthSynapse | undefined;

Deno.test.beforeAll(async () => {
  if (missing) return;
  const oauth = await OAuthServer.start();
  running = { oauth, synapse: await Synapse.start({ oauth }) };
});

Deno.test.afterAll(async () => {
  await running?.synapse.stop();
  await running?.oauth[Symbol.asyncDispose]();
});

/** Defines a test there. It is skipped where Synapse can't be installed, but never with `CI=true`. */
export function oauthTest(name: string, test: (scene: OAuthSynapse) => Promise<void>): void {
  Deno.test({
    name,
    ignore: missing,
    async fn() {
      if (running === undefined) throw new Error("Cannot run the test: Synapse has not been started");
      await test(running);
    },
  });
}
