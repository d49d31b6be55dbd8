import { assertEquals, assertRejects } from "@std/assert";

import { OAuthError, ServiceResponseError } from "@greenroom/matrix/errors";
import { getAuthMetadata } from "@greenroom/matrix/oauth";

const GOOD = {
  issuer: "https://account.example.org/",
  authorization_endpoint: "https://account.example.org/authorize",
  token_endpoint: "https://account.example.org/token",
  registration_endpoint: "https://account.example.org/register",
  revocation_endpoint: "https://account.example.org/revoke",
  device_authorization_endpoint: "https://account.example.org/device",
  account_management_uri: "https://account.example.org/account/#/devices",
  account_management_actions_supported: ["org.matrix.profile"],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code"],
  code_challenge_methods_supported: ["S256"],
  prompt_values_supported: ["create"],
  scopes_supported: ["openid"],
};

/** What a homeserver answers, by path. */
function ask(answers: Record<string, unknown>) {
  return getAuthMetadata({
    baseUrl: "https://matrix.example.org",
    log: false,
    fetch: (url) => {
      const { pathname } = new URL(String(url));
      if (pathname in answers) return Promise.resolve(Response.json(answers[pathname]));
      return Promise.resolve(Response.json({ errcode: "M_UNRECOGNIZED" }, { status: 404 }));
    },
  });
}

const STABLE = "/_matrix/client/v1/auth_metadata";
const UNSTABLE = "/_matrix/client/unstable/org.matrix.msc2965/auth_metadata";

Deno.test("getAuthMetadata() has what is known, and nothing else", async () => {
  const metadata = await ask({ [STABLE]: { ...GOOD, jwks_uri: 1, null_field: null } });
  assertEquals(metadata, { ...GOOD, authorization_response_iss_parameter_supported: false });
});

Deno.test("It asks by the name from before the specification where a server knows no other", async () => {
  assertEquals((await ask({ [UNSTABLE]: GOOD })).issuer, GOOD.issuer);
});

Deno.test("A server without OAuth 2.0 is named as such", async () => {
  const failure = await assertRejects(() => ask({}), OAuthError, "use client.login()");
  assertEquals(failure.code, "OAUTH_UNSUPPORTED");
});

Deno.test("A server on this machine may speak http, and no other", async () => {
  const local = Object.fromEntries(
    Object.entries(GOOD).map(([name, value]) => [
      name,
      typeof value === "string"
        ? value.replace("https://account.example.org", "http://127.0.0.1:8080")
        : value,
    ]),
  );
  assertEquals((await ask({ [STABLE]: local })).issuer, "http://127.0.0.1:8080/");
  // A page on the machine of who reads this is none of a server elsewhere.
  const mixed = { ...GOOD, token_endpoint: "http://127.0.0.1/token" };
  await assertRejects(() => ask({ [STABLE]: mixed }), OAuthError, "token_endpoint is not https");
});

const URLS = [
  ...["issuer", "token_endpoint", "authorization_endpoint", "registration_endpoint", "revocation_endpoint"],
  ...["device_authorization_endpoint", "account_management_uri"],
];
const LISTS = Object.entries(GOOD).filter(([, value]) => Array.isArray(value)).map(([name]) => name);

const URL_LIES: Record<string, unknown> = {
  "is of type number": 1,
  "is of type object": { href: "https://account.example.org/" },
  "is no absolute URL": "/token",
  "is not https": "http://account.example.org/",
  "is not https: ": "javascript:alert(1)",
  "has a user name": "https://user:secret@account.example.org/",
  "has more than 2048": `https://account.example.org/${"a".repeat(2_048)}`,
};

Deno.test("A lie in any field is refused, by the field's name", async () => {
  const lies = [
    ...URLS.flatMap((name) =>
      Object.entries(URL_LIES).map(([state, lie]) => [name, state.trim(), lie] as const)
    ),
    ...LISTS.flatMap((name) => [
      [name, "is no list", "code"] as const,
      [name, "has a value that is no text", [1]] as const,
      [name, "has a value that is no text", ["a".repeat(201)]] as const,
      [name, "has more than 100 values", Array(101).fill("a")] as const,
    ]),
    ["issuer", "is missing", undefined] as const,
    ["token_endpoint", "is missing", null] as const,
    ["issuer", "has a query", `${GOOD.issuer}?a=b`] as const,
    ["issuer", "has a fragment", `${GOOD.issuer}#a`] as const,
    ["token_endpoint", "has a fragment", `${GOOD.token_endpoint}#a`] as const,
    ["authorization_response_iss_parameter_supported", "is no boolean", "yes"] as const,
  ];
  for (const [name, state, lie] of lies) {
    const failure = await assertRejects(
      () => ask({ [STABLE]: { ...GOOD, [name]: lie } }),
      OAuthError,
      `${name} `,
    );
    assertEquals([failure.code, failure.message.includes(state)], ["OAUTH_METADATA", true], failure.message);
  }
});

Deno.test("Metadata that is no object, or larger than it need be, is refused", async () => {
  for (const answer of [[], "text", null, { ...GOOD, more: "a".repeat(1 << 16) }]) {
    await assertRejects(() => ask({ [STABLE]: answer }), ServiceResponseError);
  }
});
