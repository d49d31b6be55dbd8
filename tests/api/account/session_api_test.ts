import { assert, assertEquals, assertRejects } from "@std/assert";
import type { LoginOptions } from "@greenroom/matrix/types";
import {
  ForbiddenError,
  NetworkError,
  ServiceResponseError,
  UnknownTokenError,
  ValueError,
} from "@greenroom/matrix/errors";
import { sessionAPI } from "../../../src/api/account/session_api.ts";
import { refusal, type Rule, scripted, type ScriptedOptions } from "../../support/scripted_fetch.ts";

const LOGIN = "POST /_matrix/client/v3/login";
const LOGOUT = "POST /_matrix/client/v3/logout";
const ALL = "POST /_matrix/client/v3/logout/all";
const VERSIONS = "GET /_matrix/client/versions";
const bob = { user_id: "@bob:b.org", access_token: "bobs", device_id: "BOB" };

function api(rules: Record<string, Rule> = {}, options: ScriptedOptions = {}) {
  const made = scripted({ [LOGIN]: bob, [LOGOUT]: {}, [ALL]: {}, ...rules }, options);
  return { ...made, http: made.session.http, api: sessionAPI(made.session) };
}

Deno.test("login() sends the identifier, the method and the device, and only the given options", async () => {
  const identifier = { type: "m.id.user", user: "@carol:c.org" } as const;
  const phone = { type: "m.id.phone", country: "DE", phone: "1" } as const;
  const cases: [LoginOptions, object][] = [
    [{ password: "p" }, {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: "@alice:example.org" },
      password: "p",
    }],
    [{ identifier: "@carol:c.org", password: "p" }, { type: "m.login.password", identifier, password: "p" }],
    [{ identifier: "carol", password: "p" }, {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: "carol" },
      password: "p",
    }],
    [{ identifier: phone, password: "p", withRefreshToken: true }, {
      type: "m.login.password",
      identifier: phone,
      password: "p",
      refresh_token: true,
    }],
    [
      { identifier: "@carol:c.org", password: "p", deviceId: "DEV", deviceName: "Phone" },
      {
        type: "m.login.password",
        identifier,
        password: "p",
        device_id: "DEV",
        initial_device_display_name: "Phone",
      },
    ],
    [{ loginType: "m.login.token", loginToken: "once" }, { type: "m.login.token", token: "once" }],
    [
      { loginType: "org.example.card", extraFields: { card: 7, type: "not this" } },
      { type: "org.example.card", identifier: { type: "m.id.user", user: "@alice:example.org" }, card: 7 },
    ],
  ];
  for (const [options, body] of cases) {
    const made = api({}, { checked: options.extraFields === undefined });
    await made.api.login(options);
    assertEquals(made.body(), body);
    assert(!made.requests[0]?.headers.has("authorization"), "the old token is not sent");
  }
});

Deno.test("login() names the client's own device by default", async () => {
  const { session, api: { login }, body } = api();
  session.deviceId = "MINE";
  await login({ password: "p", storeAccessToken: false });
  assertEquals((body() as { device_id: string }).device_id, "MINE");
});

Deno.test("login() of an application service sends its token, for that is the credential", async () => {
  const { api: { login }, requests } = api({}, { accessToken: "as-token" });
  await login({ loginType: "m.login.application_service", identifier: "@ghost:example.org" });
  assertEquals(requests[0]?.headers.get("authorization"), "Bearer as-token");
});

Deno.test("login() makes the client the new session: user, device, tokens, and nothing of the old one", async () => {
  const { session, http, api: { login, whoami }, requests, clock } = api({
    [LOGIN]: { ...bob, refresh_token: "r1", expires_in_ms: 1_000 },
    "POST /_matrix/client/v3/refresh": { access_token: "bobs2" },
    [VERSIONS]: { versions: ["v1.11"] },
    "GET /_matrix/client/v3/account/whoami": { user_id: "@bob:b.org" },
  });
  await session.supports("v1.11");
  assertEquals((await login({ identifier: "@bob:b.org", password: "p" })).access_token, "bobs");
  assertEquals([session.mxid, session.deviceId, http.accessToken, http.isRefreshable], [
    "@bob:b.org",
    "BOB",
    "bobs",
    true,
  ]);
  await session.supports("v1.11");
  assertEquals(
    requests.filter(({ path }) => path.endsWith("versions")).length,
    2,
    "requested again for the new user",
  );
  await clock.tick(1_000);
  await whoami();
  assertEquals(http.accessToken, "bobs2", "expires_in_ms counts");
});

Deno.test("login() that is not to be stored changes nothing", async () => {
  const { session, http, api: { login } } = api();
  const response = await login({ password: "p", storeAccessToken: false });
  assertEquals(response.access_token, "bobs");
  assertEquals([session.mxid, session.deviceId, http.accessToken], [
    "@alice:example.org",
    undefined,
    "secret",
  ]);
});

Deno.test("login() moves to the address in the answer only with the option for it, and only to a valid one", async () => {
  const wellKnown = (base_url: unknown) => ({ ...bob, well_known: { "m.homeserver": { base_url } } });
  const cases: [unknown, boolean, string][] = [
    [wellKnown("https://hs.b.org/matrix/"), true, "https://hs.b.org/matrix"],
    [wellKnown("https://hs.b.org/matrix/"), false, "https://hs.example.org"],
    [wellKnown("http://hs.b.org"), true, "https://hs.example.org"], // would give up encryption
    [wellKnown("hs.b.org"), true, "https://hs.example.org"],
    [wellKnown("https://u:p@hs.b.org"), true, "https://hs.example.org"],
    [wellKnown(7), true, "https://hs.example.org"],
    [{ ...bob, well_known: {} }, true, "https://hs.example.org"],
    [bob, true, "https://hs.example.org"],
  ];
  for (const [answer, updateHsUrl, expected] of cases) {
    const { http, api: { login, whoami }, requests } = api({
      [LOGIN]: answer as object,
      "*": { user_id: "@bob:b.org" },
    });
    await login({ password: "p", updateHsUrl });
    assertEquals(
      [http.baseUrl, http.accessToken],
      [expected, "bobs"],
      "the token is kept, whatever the address",
    );
    await whoami();
    assert(requests.at(-1)?.headers.get("authorization") === "Bearer bobs");
  }
});

Deno.test("login() from a plain address may move to another plain one", async () => {
  const answer = { ...bob, well_known: { "m.homeserver": { base_url: "http://localhost:8008" } } };
  const { http, api: { login } } = api({ [LOGIN]: answer }, { baseUrl: "http://127.0.0.1" });
  await login({ password: "p", updateHsUrl: true });
  assertEquals(http.baseUrl, "http://localhost:8008");
});

Deno.test("login() refuses a password login without password or user, and sends nothing", async () => {
  const { api: { login }, requests } = api();
  for (const options of [{}, { password: "" }, { loginType: "m.login.password" }] as LoginOptions[]) {
    await assertRejects(() => login(options), ValueError, "password");
  }
  const nobody = api({}, { mxid: "" });
  await assertRejects(() => nobody.api.login({ password: "p" }), ValueError, "identifier");
  assertEquals([...requests, ...nobody.requests], []);
});

Deno.test("login() is one try, leaves everything alone if it fails, and demands a whole answer", async () => {
  // deno-lint-ignore no-explicit-any -- what assertRejects() takes
  const failures: [Rule, new (...args: any[]) => Error][] = [
    [refusal(403, "M_FORBIDDEN"), ForbiddenError],
    [new TypeError("reset"), NetworkError],
    [{ ...bob, access_token: undefined }, ServiceResponseError],
    [{ ...bob, user_id: 7 }, ServiceResponseError],
    [{ ...bob, device_id: undefined }, ServiceResponseError],
  ];
  for (const [answer, Class] of failures) {
    const { session, http, api: { login }, requests } = api({ [LOGIN]: answer });
    const error = await assertRejects(() => login({ password: "hunter2" }), Class);
    assert(!Deno.inspect(error, { depth: 9 }).includes("hunter2"));
    assertEquals([requests.length, session.mxid, http.accessToken], [1, "@alice:example.org", "secret"]);
  }
});

for (const name of ["logout", "logoutAll"] as const) {
  Deno.test(`${name}() forgets token and device unless told otherwise, and keeps the user`, async () => {
    for (const clearAccessToken of [undefined, true, false]) {
      const made = api({}, { refreshToken: "r0" });
      made.session.deviceId = "DEV";
      await made.api[name]({ clearAccessToken });
      const kept = clearAccessToken === false;
      assertEquals(made.log(), [name === "logout" ? LOGOUT : ALL]);
      assertEquals(
        [made.http.accessToken, made.http.isRefreshable, made.session.deviceId, made.session.mxid],
        [
          kept ? "secret" : "",
          kept,
          kept ? "DEV" : undefined,
          "@alice:example.org",
        ],
      );
    }
  });

  Deno.test(`${name}() that fails forgets nothing`, async () => {
    const refused = refusal(401, "M_UNKNOWN_TOKEN");
    const made = api({ [LOGOUT]: refused, [ALL]: refused });
    await assertRejects(() => made.api[name](), UnknownTokenError);
    assertEquals(made.http.accessToken, "secret");
  });
}

Deno.test("getLoginFlows(), versions() and whoami() hand out what the server says", async () => {
  const flows = [{ type: "m.login.token", get_login_token: true }];
  const { api: { getLoginFlows, versions, whoami }, requests } = api({
    "GET /_matrix/client/v3/login": { flows },
    [VERSIONS]: { versions: ["v1.16"], unstable_features: { a: true } },
    "GET /_matrix/client/v3/account/whoami": { user_id: "@alice:example.org", device_id: "DEV" },
  });
  assertEquals(await getLoginFlows(), flows as never);
  assertEquals(await versions(), { versions: ["v1.16"], unstable_features: { a: true } });
  assertEquals(await whoami(), { user_id: "@alice:example.org", device_id: "DEV" });
  assert(!requests[0]?.headers.has("authorization"));
});

Deno.test("supports() knows versions, those before them, and features that are on", async () => {
  const { api: { supports }, requests } = api({
    [VERSIONS]: {
      versions: ["r0.6.1", "v1.15"],
      unstable_features: { "org.matrix.msc4140": true, "org.matrix.msc4306": false },
    },
  });
  const asked = [
    "v1.11",
    "v1.15",
    "v1.16",
    "r0.6.1",
    "r0.5.0",
    "org.matrix.msc4140",
    "org.matrix.msc4306",
    "org.example.x",
  ];
  const found = [];
  for (const feature of asked) if (await supports(feature)) found.push(feature);
  assertEquals(found, ["v1.11", "v1.15", "r0.6.1", "org.matrix.msc4140"]);
  assertEquals(requests.length, 1);
});

Deno.test("supports() refuses what is neither a version nor a feature's name, and says what to write", async () => {
  const { api: { supports }, requests } = api({ [VERSIONS]: { versions: ["v1.15"] } });
  const wrong: [feature: unknown, mend: string][] = [
    ["1.11", 'write "v1.11"'],
    ["V1.11", 'write "v1.11"'],
    ["v1.11.2", 'write "v1.11"'],
    [" v1.11 ", 'write "v1.11"'],
    ["v2", 'a version is like "v1.11"'],
    ["MSC4140", 'write "org.matrix.msc4140"'],
    ["msc2666", 'write "uk.half-shot.msc2666.query_mutual_rooms.stable"'],
    ["4306", 'write "org.matrix.msc4306"'],
    ["msc9999", 'one is like "org.matrix.msc4140": client.versions() has them'],
    ["delayed events", 'like "org.matrix.msc4140"'],
    ["", "it has no name"],
    [5, "must be a string, not a number"],
    [null, "must be a string, not null"],
    [["v1.11"], "must be a string, not a list"],
  ];
  for (const [feature, mend] of wrong) {
    await assertRejects(() => supports(feature as never), ValueError, mend, String(feature));
  }
  assertEquals(requests.length, 0);
});
