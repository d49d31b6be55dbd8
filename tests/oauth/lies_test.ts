/** Answers of an authorization server that are not what was asked for, field by field. */

import { assertEquals, assertRejects } from "@std/assert";
import { UnknownTokenError } from "@greenroom/matrix";
import { OAuthError } from "@greenroom/matrix/errors";
import { Stage, turns } from "./stage.ts";

const LONG = "a".repeat(20_000);
/** No text that can be used; a field that is missing is one of them. */
const NO_TEXT = [undefined, null, 1, "", {}, ["a"]];

/** What each field may not be, by the path that answers it. */
const LIES: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  "/oauth2/registration": { client_id: [...NO_TEXT, LONG] },
  "/oauth2/device": {
    device_code: NO_TEXT,
    user_code: [...NO_TEXT, "A\u202eB", LONG],
    verification_uri: [...NO_TEXT, "/link", "http://account.example.org/", `https://localhost/${LONG}`],
    verification_uri_complete: [1, "", "data:text/html,a", `https://localhost/${LONG}`],
    expires_in: [undefined, null, "soon", -1],
    interval: ["often", -1],
  },
  "/oauth2/token": {
    access_token: [...NO_TEXT, "a b", "a\nb", "ä", LONG],
    token_type: [undefined, null, 1, "", "mac"],
    refresh_token: [1, {}, "", LONG],
    expires_in: ["soon", -1, {}],
    scope: [1, {}],
  },
};

Deno.test("A lie in any field of an answer ends the login, and leaves no session", async () => {
  for (const [path, fields] of Object.entries(LIES)) {
    for (const [name, lies] of Object.entries(fields)) {
      for (const lie of lies) {
        await using stage = new Stage();
        const secrets: string[] = [];
        stage.answer = async (url, init) => {
          if (url.pathname !== path) return undefined;
          const answer = await stage.homeserver.fetch(url, init);
          const body = await answer.json();
          if (!answer.ok) return Response.json(body, { status: answer.status }); // nobody has agreed yet
          secrets.push(body.access_token, body.refresh_token, body.device_code);
          return Response.json({ ...body, [name]: lie }, { status: answer.status });
        };
        const of = `${path} ${name} ${Deno.inspect(lie).slice(0, 40)}`;
        const failure = await assertRejects(() => stage.login(), OAuthError, undefined, of);
        assertEquals(failure.code, "OAUTH_RESPONSE", of);
        assertEquals(await Array.fromAsync(stage.store.list(["greenroom.oauth", "session"])), [], of);
        const said = `${Deno.inspect(failure)} ${stage.log.join()}`;
        assertEquals(secrets.filter((secret) => secret !== undefined && said.includes(secret)), [], of);
      }
    }
  }
});

Deno.test("A login whose answer has no refresh token lasts as long as its access token", async () => {
  await using stage = new Stage();
  stage.answer = async (url, init) => {
    if (url.pathname !== "/oauth2/token") return undefined;
    const answer = await stage.homeserver.fetch(url, init);
    const { refresh_token: _, ...body } = await answer.json();
    return Response.json(body, { status: answer.status });
  };
  await stage.login();
  const session = await stage.resume();
  await using client = stage.client(session);
  assertEquals((await client.whoami()).user_id, "@bot:localhost");
  const end = client.start().then(() => undefined, (error) => error);
  await turns();
  stage.homeserver.expireTokens("@bot:localhost");
  const error = await stage.until(end);
  assertEquals([error instanceof UnknownTokenError, stage.refreshes], [true, 0], String(error));
});

Deno.test("A clock that runs ahead has tokens refreshed early, and loses none", async () => {
  await using stage = new Stage();
  await stage.login();
  const ahead = {
    now: () => stage.clock.now() + 10 * 365 * 86_400_000,
    delay: stage.clock.delay.bind(stage.clock),
  };
  await using client = stage.client(await stage.resume({ clock: ahead }));
  assertEquals((await stage.until(client.whoami())).user_id, "@bot:localhost");
  await using later = stage.client(await stage.resume());
  assertEquals((await stage.until(later.whoami())).user_id, "@bot:localhost");
});
