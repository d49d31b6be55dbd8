import { assertEquals, assertFalse, assertNotEquals, assertRejects } from "@std/assert";
import { METADATA, OAuthClient } from "./client.ts";

const { refusal } = OAuthClient;

Deno.test("an access token expires by the clock, and the answer does not say that it was that", async () => {
  await using client = await OAuthClient.registered({ accessTokenLifetime: 60_000 });
  const { access_token, expires_in, refresh_token } = await client.logIn();
  assertEquals(expires_in, 60);
  await client.clock.tick(59_999);
  assertEquals((await client.whoami(access_token)).status, 200);
  await client.clock.tick(1);
  const { status, body } = await client.whoami(access_token);
  assertEquals([status, body.errcode, body.soft_logout], [401, "M_UNKNOWN_TOKEN", false]);
  assertEquals((await client.refresh(refresh_token)).status, 200);
});

Deno.test("a refresh token works once, when the answer has arrived", async () => {
  await using client = await OAuthClient.registered();
  const first = await client.logIn();
  const second = (await client.refresh(first.refresh_token)).body;
  assertNotEquals(second.refresh_token, first.refresh_token);
  assertEquals((await client.whoami(second.access_token)).body.device_id, "BOTSDEVICE");
  assertEquals(refusal(await client.refresh(first.refresh_token)), [400, "invalid_grant"]);
  assertEquals((await client.refresh(second.refresh_token)).status, 200);
  assertEquals(refusal(await client.refresh("unknown")), [400, "invalid_grant"]);
});

Deno.test("a refresh token whose answer was lost works again, until what it gave is used", async () => {
  await using client = await OAuthClient.registered();
  const first = await client.logIn();
  client.homeserver.faults.add({ kind: "drop-after", match: { path: "/oauth2/token" }, times: 1 });
  await assertRejects(() => client.refresh(first.refresh_token), TypeError);
  const second = (await client.refresh(first.refresh_token)).body;
  const third = (await client.refresh(first.refresh_token)).body;
  assertEquals((await client.whoami(second.access_token)).status, 401);
  assertEquals(refusal(await client.refresh(second.refresh_token)), [400, "invalid_grant"]);
  assertEquals((await client.refresh(third.refresh_token)).status, 200);
  assertEquals(refusal(await client.refresh(first.refresh_token)), [400, "invalid_grant"]);
});

Deno.test("a refresh token is another client's, or nobody's", async () => {
  await using client = await OAuthClient.registered();
  const { refresh_token } = await client.logIn();
  const { client_id } = (await client.json("/oauth2/registration", { ...METADATA, client_name: "B" })).body;
  const form = { client_id, grant_type: "refresh_token", refresh_token };
  assertEquals(refusal(await client.form("/oauth2/token", form)), [400, "invalid_grant"]);
  const revoked = await client.form("/oauth2/revoke", { client_id, token: refresh_token });
  assertEquals(refusal(revoked), [401, "unauthorized_client"]);
  assertEquals((await client.refresh(refresh_token)).status, 200);
});

Deno.test("after a refresh the old access token works on for the two minutes that it was believed", async () => {
  await using client = await OAuthClient.registered();
  const first = await client.logIn();
  assertEquals((await client.whoami(first.access_token)).status, 200);
  await client.refresh(first.refresh_token);
  await client.clock.tick(119_999);
  assertEquals((await client.whoami(first.access_token)).status, 200);
  await client.clock.tick(1);
  assertEquals((await client.whoami(first.access_token)).status, 401);
});

Deno.test("revoking a token that works ends the login, and deletes its device", async () => {
  await using client = await OAuthClient.registered({ accessTokenLifetime: 60_000 });
  const revoke = async (token: string, extra: Record<string, string> = {}) =>
    (await client.form("/oauth2/revoke", { token, ...extra })).status;
  const { access_token, refresh_token } = await client.logIn();
  await client.clock.tick(60_000);
  assertEquals(await revoke(access_token), 200); // it has expired: nothing happens
  const next = (await client.refresh(refresh_token)).body;
  assertEquals((await client.whoami(next.access_token)).status, 200);
  assertEquals(await revoke(next.refresh_token, { token_type_hint: "access_token" }), 200);
  assertEquals((await client.whoami(next.access_token)).status, 200);
  assertEquals(await revoke(next.refresh_token, { token_type_hint: "refresh_token" }), 200);
  const { status, body } = await client.whoami(next.access_token);
  assertEquals([status, body.errcode, body.soft_logout], [401, "M_UNKNOWN_TOKEN", false]);
  assertEquals(refusal(await client.refresh(next.refresh_token)), [400, "invalid_grant"]);
  const devices = (await client.api(client.user.accessToken, "GET", "/devices")).body.devices;
  assertEquals(devices.map((device: { device_id: string }) => device.device_id), [client.user.deviceId]);
  assertEquals(await revoke("unknown"), 200);
  const strange = await client.form("/oauth2/revoke", { token: "t", token_type_hint: "id_token" });
  assertEquals(refusal(strange), [400, "unsupported_token_type"]);
});

Deno.test("two logins share a device until the last one ends", async () => {
  await using client = await OAuthClient.registered();
  const first = await client.logIn();
  const second = await client.logIn();
  await client.form("/oauth2/revoke", { token: first.refresh_token });
  assertEquals((await client.whoami(second.access_token)).body.device_id, "BOTSDEVICE");
  await client.form("/oauth2/revoke", { token: second.refresh_token });
  assertEquals((await client.whoami(second.access_token)).status, 401);
});

Deno.test("expireTokens() leaves the refresh token, revokeTokens() nothing", async () => {
  await using client = await OAuthClient.registered();
  const { access_token, refresh_token } = await client.logIn();
  client.homeserver.expireTokens(client.user.userId);
  assertFalse((await client.whoami(access_token)).body.soft_logout);
  const next = (await client.refresh(refresh_token)).body;
  assertEquals((await client.whoami(next.access_token)).status, 200);
  client.homeserver.revokeTokens(client.user.userId);
  assertEquals((await client.whoami(next.access_token)).status, 401);
  assertEquals(refusal(await client.refresh(next.refresh_token)), [400, "invalid_grant"]);
});

Deno.test("a body that is no form, or has a parameter twice, is an invalid request", async () => {
  await using client = await OAuthClient.registered();
  assertEquals(refusal(await client.json("/oauth2/token", {})), [400, "invalid_request"]);
  const body = new URLSearchParams([["client_id", client.id], ["client_id", client.id]]);
  const twice = await client.send("/oauth2/token", { method: "POST", body });
  assertEquals(refusal(twice), [400, "invalid_request"]);
  assertEquals(refusal(await client.form("/oauth2/token", {})), [400, "invalid_request"]);
});

Deno.test("faults match the user of an access token of OAuth", async () => {
  await using client = await OAuthClient.registered();
  const { access_token } = await client.logIn();
  using fault = client.homeserver.faults.add({
    kind: "status",
    status: 503,
    match: { user: client.user.userId },
  });
  assertEquals((await client.whoami(access_token)).status, 503);
  assertEquals(fault.hits, 1);
});
