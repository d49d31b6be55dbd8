import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix/errors";
import { Homeserver } from "@greenroom/matrix/testing";
import { OAuthClient } from "./client.ts";

Deno.test("auth_metadata has what the specification requires, at both paths", async () => {
  await using client = await OAuthClient.registered();
  const { status, body, headers } = await client.send("/_matrix/client/v1/auth_metadata");
  assertEquals([status, body.issuer], [200, "https://localhost/"]);
  assertStringIncludes(headers.get("cache-control") ?? "", "public, max-age=600");
  for (const name of ["authorization", "token", "registration", "revocation", "device_authorization"]) {
    assertStringIncludes(body[`${name}_endpoint`], body.issuer);
  }
  assertEquals([body.response_types_supported, body.code_challenge_methods_supported], [["code"], ["S256"]]);
  assertEquals(body.account_management_uri, "https://localhost/account/");
  for (
    const path of [
      "/_matrix/client/unstable/org.matrix.msc2965/auth_metadata",
      "/.well-known/openid-configuration",
    ]
  ) {
    assertEquals((await client.send(path)).body, body);
  }
  assertEquals((await client.send("/.well-known/matrix/client")).body, {
    "m.homeserver": { base_url: "https://localhost/" },
    "org.matrix.msc2965.authentication": {
      issuer: "https://localhost/",
      account: "https://localhost/account/",
    },
  });
});

Deno.test("a homeserver that listens is its own issuer there", async () => {
  await using client = new OAuthClient();
  const baseUrl = await client.homeserver.listen();
  const response = await fetch(`${baseUrl}/_matrix/client/v1/auth_metadata`);
  const { issuer, token_endpoint } = await response.json();
  assertEquals([issuer, token_endpoint], [`${baseUrl}/`, `${baseUrl}/oauth2/token`]);
  assertEquals(client.homeserver.oauth.issuer, issuer);
});

Deno.test("with an authorization server there is no login of old, as on Synapse", async () => {
  await using client = await OAuthClient.registered();
  const { access_token } = await client.logIn();
  const gone = [
    ...["GET /login", "POST /login", "POST /refresh", "POST /logout", "POST /logout/all"],
    ...["POST /account/password", "POST /account/deactivate", "POST /delete_devices"],
    ...["DELETE /devices/BOTSDEVICE", "GET /register/available"],
  ];
  for (const request of gone) {
    const [method = "", path = ""] = request.split(" ");
    const { status, body } = await client.api(access_token, method, path, method === "GET" ? undefined : {});
    assertEquals([request, status, body.errcode], [request, 404, "M_UNRECOGNIZED"]);
  }
  const { status, body } = await client.api("", "POST", "/register", { username: "bob" });
  assertEquals([status, body.errcode], [403, "M_FORBIDDEN"]);
  const { capabilities } = (await client.api(access_token, "GET", "/capabilities")).body;
  assertEquals(capabilities["m.change_password"], { enabled: false });
});

Deno.test("application services make users without logging them in", async () => {
  await using client = await OAuthClient.registered();
  client.homeserver.addAppservice({
    id: "echo",
    url: null,
    as_token: "as_token",
    hs_token: "hs_token",
    sender_localpart: "echo",
    namespaces: { users: [{ regex: "@echo_", exclusive: true }] },
  });
  const body = { type: "m.login.application_service", username: "echo_1" };
  const refused = await client.api("as_token", "POST", "/register", body);
  assertEquals([refused.status, refused.body.errcode], [400, "M_APPSERVICE_LOGIN_UNSUPPORTED"]);
  const made = await client.api("as_token", "POST", "/register", { ...body, inhibit_login: true });
  assertEquals(made.body, { user_id: "@echo_1:localhost" });
});

Deno.test("replacing cross-signing keys needs a person at the account page, once", async () => {
  await using client = await OAuthClient.registered();
  const { access_token } = await client.logIn();
  const upload = (key: string) =>
    client.api(access_token, "POST", "/keys/device_signing/upload", {
      master_key: { user_id: client.user.userId, usage: ["master"], keys: { [`ed25519:${key}`]: key } },
    });
  assertEquals((await upload("A".repeat(43))).status, 200);
  const { status, body } = await upload("B".repeat(43));
  assertEquals([status, body.session], [401, "dummy"]);
  assertEquals(body.flows, [{ stages: ["m.oauth"] }, { stages: ["org.matrix.cross_signing_reset"] }]);
  const url = "https://localhost/account/?action=org.matrix.cross_signing_reset";
  assertEquals(body.params["m.oauth"], { url });
  client.homeserver.oauth.allowCrossSigningReset(client.user.userId);
  assertEquals((await upload("too short")).status, 400); // which uses nothing up
  assertEquals((await upload("B".repeat(43))).status, 200);
  assertEquals((await upload("C".repeat(43))).status, 401);
  client.homeserver.oauth.allowCrossSigningReset(client.user.userId);
  await client.clock.tick(600_000);
  assertEquals((await upload("C".repeat(43))).status, 401);
  assertThrows(() => client.homeserver.oauth.allowCrossSigningReset("@nobody:localhost"), ValueError);
});

Deno.test("a homeserver without an authorization server has none of it", async () => {
  await using homeserver = new Homeserver();
  const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v1/auth_metadata`);
  assertEquals([response.status, (await response.json()).errcode], [404, "M_UNRECOGNIZED"]);
  assertThrows(() => homeserver.oauth, ValueError, "new Homeserver({ oauth: true })");
});
