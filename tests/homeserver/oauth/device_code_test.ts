import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix/errors";
import { DEVICE_CODE, METADATA, OAuthClient, SCOPE } from "./client.ts";

const { refusal } = OAuthClient;

Deno.test("a device code waits for a person, and then gives tokens of the device in the scope", async () => {
  await using client = await OAuthClient.registered();
  const asked = await client.deviceCode();
  assertEquals(asked.verification_uri, "https://localhost/link");
  assertEquals(asked.verification_uri_complete, `https://localhost/link?code=${asked.user_code}`);
  assertEquals([asked.expires_in, asked.interval], [1200, 5]);
  assertEquals(refusal(await client.poll(asked.device_code)), [403, "authorization_pending"]);
  assertEquals(client.homeserver.oauth.pending, [{
    userCode: asked.user_code,
    clientId: client.id,
    clientName: "Bot",
    scope: SCOPE,
    deviceId: "BOTSDEVICE",
  }]);
  client.homeserver.oauth.approve(asked.verification_uri_complete, client.user.userId);
  assertEquals(client.homeserver.oauth.pending, []);
  const { status, body, headers } = await client.poll(asked.device_code);
  assertEquals([status, body.token_type, body.expires_in, body.scope], [200, "Bearer", 300, SCOPE]);
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals((await client.whoami(body.access_token)).body, {
    user_id: "@alice:localhost",
    device_id: "BOTSDEVICE",
    is_guest: false,
  });
  assertEquals(refusal(await client.poll(asked.device_code)), [400, "invalid_grant"]);
});

Deno.test("a device code that is asked for too soon makes the client wait five seconds longer", async () => {
  await using client = await OAuthClient.registered();
  const { device_code } = await client.deviceCode();
  const poll = async (wait: number) => {
    await client.clock.tick(wait);
    return (await client.poll(device_code)).body.error;
  };
  assertEquals(await poll(0), "authorization_pending");
  assertEquals(await poll(4_999), "slow_down");
  assertEquals(await poll(5_000), "slow_down");
  assertEquals(await poll(15_000), "authorization_pending");
});

Deno.test("a device code is denied, expires, and belongs to one client", async () => {
  await using client = await OAuthClient.registered({
    oauth: { deviceCodeLifetime: 60_000, interval: null },
  });
  const { oauth } = client.homeserver;
  const denied = await client.deviceCode();
  assertEquals(denied.interval, undefined);
  oauth.deny(denied.user_code);
  assertEquals(refusal(await client.poll(denied.device_code)), [403, "access_denied"]);
  const late = await client.deviceCode();
  const { client_id } =
    (await client.json("/oauth2/registration", { ...METADATA, client_name: "Other" })).body;
  const foreign = { client_id, grant_type: DEVICE_CODE, device_code: late.device_code };
  assertEquals(refusal(await client.form("/oauth2/token", foreign)), [400, "invalid_grant"]);
  await client.clock.tick(60_000);
  assertEquals(refusal(await client.poll(late.device_code)), [403, "expired_token"]);
  assertThrows(() => oauth.approve(late.user_code, client.user.userId), ValueError, "it is over");
});

Deno.test("approve() refuses who and what a person could not approve", async () => {
  await using client = await OAuthClient.registered();
  const { oauth } = client.homeserver;
  const { user_code } = await client.deviceCode();
  assertThrows(() => oauth.approve(user_code, "@nobody:localhost"), ValueError, "no such user");
  const stable = "urn:matrix:client:";
  const unstable = "urn:matrix:org.matrix.msc2967.client:";
  const bad = {
    "urn:matrix:client:api:* urn:matrix:client:device:SHORT":
      "scope 'urn:matrix:client:device:SHORT' not allowed",
    "urn:other": "scope 'urn:other' not allowed",
    [`${stable}device:BOTSDEVICE`]: "device scopes are only allowed when",
    [`${stable}api:* ${unstable}device:BOTSDEVICE`]: "cannot mix",
    [`${SCOPE} ${stable}device:BOTSDEVICE2`]: "only one device scope",
  };
  for (const [scope, message] of Object.entries(bad)) {
    const { user_code } = await client.deviceCode(scope);
    assertThrows(() => oauth.approve(user_code, client.user.userId), ValueError, message);
  }
  const tokens = await client.logIn(`openid ${unstable}api:* ${unstable}device:OLDSPELLING`);
  assertEquals((await client.whoami(tokens.access_token)).body.device_id, "OLDSPELLING");
});

Deno.test("a scope without the API gives a token that the homeserver does not take", async () => {
  await using client = await OAuthClient.registered();
  const { access_token } = await client.logIn("openid");
  const { status, body } = await client.whoami(access_token);
  assertEquals([status, body.errcode, body.soft_logout], [401, "M_UNKNOWN_TOKEN", false]);
  assertMatch(body.error, /doesn't grant access/);
});

Deno.test("a homeserver without the device grant has no endpoint for it", async () => {
  await using client = await OAuthClient.registered({ oauth: { deviceGrant: false } });
  const { body } = await client.send("/_matrix/client/v1/auth_metadata");
  assertEquals(body.device_authorization_endpoint, undefined);
  assertEquals(body.grant_types_supported, ["authorization_code", "refresh_token"]);
  assertEquals(refusal(await client.form("/oauth2/device", { scope: SCOPE })), [400, "invalid_request"]);
  assertEquals(refusal(await client.poll("code")), [400, "unsupported_grant_type"]);
});

Deno.test("a client uses the grants that it has registered", async () => {
  await using client = await OAuthClient.registered();
  const { device_code } = await client.deviceCode();
  const metadata = { ...METADATA, grant_types: ["authorization_code"] };
  client.id = (await client.json("/oauth2/registration", metadata)).body.client_id;
  assertEquals(refusal(await client.form("/oauth2/device", { scope: SCOPE })), [401, "unauthorized_client"]);
  assertEquals(refusal(await client.poll(device_code)), [401, "unauthorized_client"]);
  assertEquals(refusal(await client.refresh("token")), [401, "unauthorized_client"]);
});

Deno.test("oauth: an option that there is not is refused", () => {
  // @ts-expect-error it is `interval`
  assertThrows(() => new OAuthClient({ oauth: { intervall: 5 } }), ValueError, "oauth.intervall");
});
