import { assertEquals } from "@std/assert";
import { Homeserver } from "@greenroom/matrix/testing";

const registration = {
  id: "echo",
  url: null,
  as_token: "the-token-of-the-appservice",
  hs_token: "the-token-of-the-homeserver",
  sender_localpart: "echo",
  namespaces: { users: [{ regex: "@_echo_.*:localhost", exclusive: true }] },
};

/** Posts a body; returns the status, and the user or what is wrong. */
async function post(homeserver: Homeserver, path: string, body: object, token?: string) {
  const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3/${path}`, {
    method: "POST",
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const { user_id, device_id, errcode, error } = await response.json();
  return { said: [response.status, user_id ?? errcode, error], deviceId: device_id };
}

const type = "m.login.application_service";
const of = (user: unknown, kind = "m.id.user") => ({ type, identifier: { type: kind, user } });

Deno.test("An application service logs its users in, as on Synapse, and nobody else does", async () => {
  await using homeserver = new Homeserver();
  const { as_token } = registration;
  homeserver.addAppservice(registration);
  const { accessToken } = homeserver.createUser("alice");
  await post(homeserver, "register", { type, username: "_echo_a", inhibit_login: true }, as_token);
  const cases: [object, string | undefined, unknown[]][] = [
    [of("_echo_a"), as_token, [200, "@_echo_a:localhost", undefined]],
    [of("@_echo_a:localhost"), as_token, [200, "@_echo_a:localhost", undefined]],
    [of("echo"), as_token, [200, "@echo:localhost", undefined]],
    [of("_echo_a"), undefined, [401, "M_MISSING_TOKEN", "Missing access token"]],
    [of("_echo_a"), "nonsense", [401, "M_UNKNOWN_TOKEN", "Invalid access token passed."]],
    [of("_echo_a"), accessToken, [
      401,
      "M_UNKNOWN_TOKEN",
      "This login method is only valid for application services",
    ]],
    [{ type }, as_token, [400, "M_INVALID_PARAM", "Invalid identifier in login submission"]],
    [of(1), as_token, [400, "M_INVALID_PARAM", "Invalid user in identifier"]],
    [of("a", "m.id.phone"), as_token, [400, "M_INVALID_PARAM", "Unknown login identifier type"]],
    [of("alice"), as_token, [403, "M_FORBIDDEN", "Invalid access_token"]],
    [of("_echo_nobody"), as_token, [404, "M_UNKNOWN", "No row found (users)"]],
  ];
  for (const [body, token, expected] of cases) {
    assertEquals((await post(homeserver, "login", body, token)).said, expected);
  }
  const named = { ...of("_echo_a"), device_id: "BRIDGE" };
  assertEquals((await post(homeserver, "login", named, as_token)).deviceId, "BRIDGE");
});

Deno.test("An application service that makes devices by itself can't log in", async () => {
  await using homeserver = new Homeserver();
  homeserver.addAppservice({ ...registration, "io.element.msc4190": true });
  const { said } = await post(homeserver, "login", of("echo"), registration.as_token);
  assertEquals(said.slice(0, 2), [400, "M_APPSERVICE_LOGIN_UNSUPPORTED"]);
});
