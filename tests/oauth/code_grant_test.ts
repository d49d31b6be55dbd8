import { assert, assertEquals, assertRejects } from "@std/assert";
import { OAuthError } from "@greenroom/matrix/errors";
import { type AuthorizationCodeLoginOptions, loginByAuthorizationCode } from "@greenroom/matrix/oauth";
import { Stage } from "./stage.ts";

const BOT = "@bot:localhost";
const OWN = "https://bot.example/back";

/** A login whose browser comes back to an address of the application's. */
function login(
  stage: Stage,
  browse: (url: string) => unknown,
  options: Partial<AuthorizationCodeLoginOptions> = {},
) {
  return loginByAuthorizationCode({
    ...stage.options,
    redirectUri: OWN,
    onAuthorizationUrl: browse,
    ...options,
  });
}

/** A browser whose user agrees. */
const agrees = (stage: Stage) => (url: string) => stage.homeserver.oauth.approve(url, BOT);

/** The address with another parameter; undefined: without it. */
function changed(address: string, name: string, value: string | undefined): string {
  const url = new URL(address);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
}

Deno.test("loginByAuthorizationCode() with an own redirect asks for a code with PKCE, and trades it", async () => {
  await using stage = new Stage();
  let asked = new URLSearchParams();
  const session = await login(stage, (url) => {
    asked = new URL(url).searchParams;
    return agrees(stage)(url);
  });
  await using client = stage.client(session);
  assertEquals(await client.whoami(), { user_id: BOT, device_id: session.deviceId, is_guest: false });
  assertEquals(
    [asked.get("code_challenge_method"), asked.get("response_type"), asked.get("redirect_uri")],
    ["S256", "code", OWN],
  );
  const { form } = stage.asked.find(({ path }) => path === "/oauth2/token") ??
    { form: new URLSearchParams() };
  assert((form.get("code_verifier") ?? "").length >= 43);
  assert(asked.get("state") !== null && asked.get("code_challenge") !== form.get("code_verifier"));
});

Deno.test("A response with another state, issuer or without a code is refused, and no code is traded", async () => {
  for (
    const [name, value, metadata] of [
      ["state", "forged", {}],
      ["state", undefined, {}],
      ["iss", "https://evil.example/", {}],
      ["iss", undefined, { authorization_response_iss_parameter_supported: true }],
      ["code", undefined, {}],
    ] as const
  ) {
    await using stage = new Stage();
    stage.answer = async (url, init) => {
      if (!url.pathname.endsWith("/auth_metadata")) return undefined;
      return Response.json({ ...await (await stage.homeserver.fetch(url, init)).json(), ...metadata });
    };
    const failure = await assertRejects(
      () => login(stage, (url) => changed(agrees(stage)(url), name, value)),
      OAuthError,
    );
    assertEquals(failure.code, "OAUTH_RESPONSE", failure.message);
    assert(stage.asked.every(({ path }) => path !== "/oauth2/token"));
    assert(!failure.message.includes("forged"));
  }
});

Deno.test("A refusal of the user, and a browser that did not come back, end the login", async () => {
  await using stage = new Stage();
  const denied = await assertRejects(
    () => login(stage, (url) => stage.homeserver.oauth.deny(url)),
    OAuthError,
  );
  assertEquals([denied.code, denied.error], ["OAUTH_REFUSED", "access_denied"]);
  const absent = await assertRejects(() => login(stage, () => undefined), OAuthError, "onAuthorizationUrl");
  assertEquals(absent.code, "OAUTH_RESPONSE");
});

Deno.test("A server without PKCE, or without codes, is refused, with what to call in its place", async () => {
  for (
    const lack of [
      { code_challenge_methods_supported: ["plain"] },
      { response_types_supported: ["token"] },
      { response_modes_supported: ["fragment"] },
      { grant_types_supported: ["refresh_token"] },
      { authorization_endpoint: null },
    ]
  ) {
    await using stage = new Stage();
    stage.answer = async (url, init) => {
      if (!url.pathname.endsWith("/auth_metadata")) return undefined;
      return Response.json({ ...await (await stage.homeserver.fetch(url, init)).json(), ...lack });
    };
    const failure = await assertRejects(() => login(stage, agrees(stage)), OAuthError, "loginByDeviceCode()");
    assertEquals(failure.code, "OAUTH_UNSUPPORTED");
  }
});

Deno.test("Without a redirect URI, the browser comes back to this machine; what another program sends there counts for nothing", async () => {
  await using stage = new Stage();
  const session = await loginByAuthorizationCode({
    ...stage.options,
    async onAuthorizationUrl(url) {
      const back = agrees(stage)(url);
      assertEquals(new URL(back).hostname, "127.0.0.1");
      for (
        const [address, method, status] of [
          [changed(back, "state", "forged"), "GET", 400],
          [changed(back, "state", undefined), "GET", 400],
          [back.replace("/?", "/other?"), "GET", 404],
          [back, "POST", 404],
          [back, "GET", 200],
        ] as const
      ) {
        const answer = await fetch(address, { method });
        await answer.body?.cancel();
        assertEquals(answer.status, status);
      }
    },
  });
  assertEquals(session.mxid, BOT);
});

Deno.test("A signal ends the wait for the browser", async () => {
  await using stage = new Stage();
  const abort = new AbortController();
  const { signal } = abort;
  const login = loginByAuthorizationCode({
    ...stage.options,
    signal,
    onAuthorizationUrl: () => abort.abort(new Error("enough")),
  });
  await assertRejects(() => login, Error, "enough");
});
