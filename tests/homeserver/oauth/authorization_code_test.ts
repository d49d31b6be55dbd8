import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix/errors";
import { METADATA, OAuthClient, REDIRECT_URI, SCOPE } from "./client.ts";

const { refusal } = OAuthClient;
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"; // RFC 7636, appendix B
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

function authorizeUrl(client: OAuthClient, changes: Record<string, string | undefined> = {}): URL {
  const params = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: "a state",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...changes,
  };
  const url = new URL(`${client.homeserver.oauth.issuer}authorize`);
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

function exchange(client: OAuthClient, redirected: string, changes: Record<string, string> = {}) {
  const code = new URL(redirected).searchParams.get("code") ?? "";
  return client.form("/oauth2/token", {
    ...{ grant_type: "authorization_code", code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
    ...changes,
  });
}

Deno.test("an approved authorization request gives a code, which gives tokens once", async () => {
  await using client = await OAuthClient.registered();
  const redirected = client.homeserver.oauth.approve(authorizeUrl(client), client.user.userId);
  assertStringIncludes(redirected, `${REDIRECT_URI}?code=`);
  assertEquals(new URL(redirected).searchParams.get("state"), "a state");
  const { status, body } = await exchange(client, redirected);
  assertEquals(status, 200);
  assertEquals((await client.whoami(body.access_token)).body.device_id, "BOTSDEVICE");
  assertEquals(refusal(await exchange(client, redirected)), [400, "invalid_grant"]);
});

Deno.test("the authorization endpoint redirects at once when somebody is signed in", async () => {
  await using client = await OAuthClient.registered();
  const { oauth } = client.homeserver;
  const { pathname, search } = authorizeUrl(client, { response_mode: "fragment" });
  const page = await client.send(pathname + search);
  assertEquals([page.status, page.headers.get("location")], [200, null]);
  oauth.browserUser = client.user.userId;
  const { status, headers } = await client.send(pathname + search);
  const location = headers.get("location") ?? "";
  assertEquals(status, 303);
  assertStringIncludes(location, `${REDIRECT_URI}#code=`);
  assertEquals((await exchange(client, location.replace("#", "?"))).status, 200);
  const strange = authorizeUrl(client, { scope: "urn:other" });
  assertEquals((await client.send(strange.pathname + strange.search)).status, 400);
});

Deno.test("a code needs the verifier, the redirect URI, and ten minutes at most", async () => {
  await using client = await OAuthClient.registered();
  const { oauth } = client.homeserver;
  const redirected = oauth.approve(authorizeUrl(client), client.user.userId);
  const change = async (changes: Record<string, string>) =>
    refusal(await exchange(client, redirected, changes));
  assertEquals(await change({ code_verifier: `${VERIFIER}x` }), [400, "invalid_grant"]);
  assertEquals(await change({ redirect_uri: "http://127.0.0.1:4712/callback" }), [400, "invalid_grant"]);
  assertEquals(await change({ code: "another" }), [400, "invalid_grant"]);
  const { client_id } = (await client.json("/oauth2/registration", { ...METADATA, client_name: "B" })).body;
  assertEquals(await change({ client_id }), [401, "unauthorized_client"]);
  assertEquals(await change({ client_id: "nobody" }), [401, "invalid_client"]);
  await client.clock.tick(600_001);
  assertEquals(await change({}), [400, "invalid_grant"]);
});

Deno.test("what is wrong with an authorization request goes to the redirect URI, or to the person", async () => {
  await using client = await OAuthClient.registered();
  const { oauth } = client.homeserver;
  const errorOf = (changes: Record<string, string | undefined>) =>
    new URL(oauth.approve(authorizeUrl(client, changes), client.user.userId)).searchParams.get("error");
  assertEquals(errorOf({ response_type: "token" }), "unsupported_response_type");
  assertEquals(errorOf({ code_challenge: undefined }), "invalid_request");
  assertEquals(errorOf({ code_challenge_method: "plain" }), "invalid_request");
  assertEquals(errorOf({ prompt: "none" }), "login_required");
  const denied = new URL(oauth.deny(authorizeUrl(client))).searchParams;
  assertEquals([denied.get("error"), denied.get("state")], ["access_denied", "a state"]);
  for (
    const changes of [{ redirect_uri: "https://elsewhere.example/" }, { client_id: "nobody" }, {
      response_mode: "form_post",
    }]
  ) {
    const url = authorizeUrl(client, changes);
    assertThrows(() => oauth.approve(url, client.user.userId), ValueError);
    assertEquals((await client.send(url.pathname + url.search)).status, 400);
  }
});

Deno.test("a client registers again as itself, and is refused what the policy does not allow", async () => {
  await using client = await OAuthClient.registered();
  const register = async (changes: Record<string, unknown>) =>
    await client.json("/oauth2/registration", { ...METADATA, ...changes });
  const again = await register({});
  assertEquals([again.status, again.body.client_id], [201, client.id]);
  assertEquals(again.body.redirect_uris, METADATA.redirect_uris);
  const bad = async (changes: Record<string, unknown>) => refusal(await register(changes));
  assertEquals(await bad({ client_uri: undefined }), [400, "invalid_client_metadata"]);
  assertEquals(await bad({ client_uri: "http://bot.example/" }), [400, "invalid_client_metadata"]);
  for (
    const page of [
      "bot.example",
      "bot.example:8448/",
      "bot.example/a_b",
      "bot.example/~a",
      "bot.example/?a=b",
    ]
  ) {
    assertEquals(await bad({ client_uri: `https://${page}` }), [400, "invalid_client_metadata"], page);
  }
  assertEquals((await register({ client_uri: "https://bot.example/a/b-c.html" })).status, 201);
  assertEquals(await bad({ logo_uri: "https://other.example/" }), [400, "invalid_client_metadata"]);
  assertEquals(await bad({ token_endpoint_auth_method: undefined }), [400, "invalid_client_metadata"]);
  assertEquals(await bad({ grant_types: "all" }), [400, "invalid_client_metadata"]);
  assertEquals(await bad({ redirect_uris: undefined }), [400, "invalid_redirect_uri"]);
  assertEquals(await bad({ redirect_uris: ["https://other.example/"] }), [400, "invalid_redirect_uri"]);
  assertEquals(await bad({ application_type: "web" }), [400, "invalid_redirect_uri"]);
  assertEquals(await bad({ redirect_uris: ["http://bot.example/callback"] }), [400, "invalid_redirect_uri"]);
  assertEquals((await register({ redirect_uris: ["example.bot:/callback"] })).status, 201);
  assertEquals((await register({ redirect_uris: ["https://app.bot.example/"] })).status, 201);
  const broken = await client.send("/oauth2/registration", { method: "POST", body: "{" });
  assertEquals(refusal(broken), [400, "invalid_request"]);
});
