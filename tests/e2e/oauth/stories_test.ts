/**
 * Logins by OAuth 2.0 at a Synapse with an authorization server.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { OAuthServer } from "../../../tools/oauth_server.ts";
import { findPython } from "../../../tools/python.ts";
import { Synapse } from "../../../tools/synapse.ts";
import { OAUTH_STORIES } from "../../homeserver/oauth/stories.ts";

const POLL_MS = 100;
const missing = Deno.env.get("CI") !== "true" && await findPython() === undefined;

let oauth: OAuthServer;
let synapse: Synapse;

Deno.test.beforeAll(async () => {
  if (missing) return;
  oauth = await OAuthServer.start();
  synapse = await Synapse.start({ oauth });
});

Deno.test.afterAll(async () => {
  await synapse?.stop();
  await oauth?.[Symbol.asyncDispose]();
});

for (const { name, tell } of OAUTH_STORIES) {
  Deno.test({
    name: `on Synapse, ${name}`,
    ignore: missing,
    fn: () =>
      tell({
        baseUrl: synapse.baseUrl,
        fetch,
        approve: (request, localpart) => oauth.approve(request, localpart),
        deny: (request) => oauth.deny(request),
        async expire(action, isOver) {
          const { accessTokenLifetime } = oauth;
          oauth.accessTokenLifetime = 2;
          await action();
          oauth.accessTokenLifetime = accessTokenLifetime;
          while (!await isOver()) await delay(POLL_MS);
        },
      }),
  });
}
