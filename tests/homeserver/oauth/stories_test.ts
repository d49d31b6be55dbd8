import { Homeserver, TestClock } from "@greenroom/matrix/testing";
import { OAUTH_STORIES } from "./stories.ts";

for (const { name, tell } of OAUTH_STORIES) {
  Deno.test(`in the process, ${name}`, async () => {
    const clock = new TestClock();
    await using homeserver = new Homeserver({ oauth: true, clock });
    const { oauth, baseUrl, fetch } = homeserver;
    await tell({
      baseUrl,
      fetch,
      approve(request, localpart) {
        return oauth.approve(request, homeserver.createUser(localpart).userId);
      },
      deny: (request) => oauth.deny(request),
      async expire(action) {
        await action();
        await clock.tick(300_000);
      },
    });
  });
}
