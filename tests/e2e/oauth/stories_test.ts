/**
 * Logins in plain requests, on Synapse.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { OAUTH_STORIES } from "../../homeserver/oauth/stories.ts";
import { oauthTest } from "./oauth_synapse.ts";

const POLL_MS = 100;

for (const { name, tell } of OAUTH_STORIES) {
  oauthTest(`on Synapse, ${name}`, ({ synapse, oauth }) =>
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
    }));
}
