import { assert, assertEquals, assertNotEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { LimitExceededError, RateLimitError, ValueError } from "@greenroom/matrix/errors";
import {
  AppService,
  Appservice,
  createRegistration,
  parseRegistration,
  registrationToYaml,
} from "@greenroom/matrix/appservice";
import { registration } from "./scene.ts";

const options = { id: "irc", url: "http://127.0.0.1:9000", serverName: "example.org" };

Deno.test("createRegistration() makes tokens that nobody can guess, and namespaces that are escaped", () => {
  const [made, other] = [
    createRegistration(options),
    createRegistration({ ...options, userPrefix: "irc.*" }),
  ];
  assertEquals(made.namespaces.users, [{ regex: "@_irc_.*:example\\.org", exclusive: true }]);
  assertEquals(other.namespaces.users, [{ regex: "@irc\\.\\*.*:example\\.org", exclusive: true }]);
  assertNotEquals(made.as_token, other.as_token);
  assertNotEquals(made.as_token, made.hs_token);
  assert([made.as_token, made.hs_token].every((token) => /^[0-9a-f]{64}$/.test(token)));
});

Deno.test("A registration is the same after it was written and read, with what it says beside", () => {
  const made = { ...createRegistration(options), "io.element.msc4190": true, note: "x: 'y'\n- z" };
  assertEquals(parseRegistration(registrationToYaml(made)), made);
  assertEquals(parseRegistration(JSON.stringify(made)), made);
});

const wrong: [string, object | string][] = [
  ["no YAML", "{"],
  ["a list", []],
  ["no id", { ...registration, id: undefined }],
  ["an empty token", { ...registration, as_token: "" }],
  ["a token with a line break", { ...registration, hs_token: "a\nb" }],
  ["a token that is too long to be shown", { ...registration, hs_token: "x".repeat(1_001) }],
  ["one token for both", { ...registration, hs_token: registration.as_token }],
  ["a url that is none", { ...registration, url: "here" }],
  ["no url", { ...registration, url: undefined }],
  ["a sender that needs escaping", { ...registration, sender_localpart: "a/b" }],
  ["no namespaces", { ...registration, namespaces: undefined }],
  ["a namespace without exclusive", { ...registration, namespaces: { users: [{ regex: "a" }] } }],
  ["a regex that is none", { ...registration, namespaces: { users: [{ regex: "(", exclusive: true }] } }],
  [
    "aliases of aliases",
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]",
  ],
];
for (const [name, value] of wrong) {
  Deno.test(`parseRegistration() refuses ${name}, and does not tell what it says`, () => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const error = assertThrows(() => parseRegistration(text), ValueError);
    assert(!error.message.includes(registration.as_token));
  });
}

Deno.test("new Appservice() refuses a time limit and a number of users that can't be used", () => {
  const base = { registration, serverName: "localhost", baseUrl: "http://localhost" };
  for (
    const bad of [{ transactionTimeout: 0 }, { transactionTimeout: NaN }, { maxActing: 0 }, {
      maxActing: 1.5,
    }]
  ) {
    assertThrows(() => new Appservice({ ...base, ...bad }), ValueError);
  }
});

Deno.test("An application service that lacks something is refused when it is made, and says what", () => {
  const url = "http://localhost:9000";
  // deno-lint-ignore no-explicit-any -- as JavaScript lets pass
  type Any = any;
  const registration: Any = createRegistration({ id: "irc", url, serverName: "example.org" });
  const { as_token, ...tokenless } = registration;
  const given = { registration, baseUrl: "https://matrix.example.org", serverName: "example.org" };
  for (
    const [more, text] of [
      [{ serverName: undefined }, "serverName must be the part behind the colon"],
      [{ serverName: "https://example.org" }, "serverName must be the part behind the colon"],
      [{ port: 9000 }, "write appservice.start({ port })"],
      [{ domain: "example.org" }, "there is no option domain; did you mean serverName?"],
      [{ homeserver: "example.org" }, "it has both homeserver and baseUrl; leave out one of them"],
      [{ registration: tokenless }, "as_token must be a text"],
      [
        { registration: { ...tokenless, asToken: as_token } },
        "as_token must be a text, and is named so, not asToken",
      ],
      [{ registration: { ...registration, namespaces: undefined } }, "namespaces must be an object"],
      [{ registration: "registration.yaml" }, "it must be an object"],
    ] as const
  ) assertThrows(() => new Appservice({ ...given, ...more } as Any), ValueError, text);
});

Deno.test("Classes have the names of other libraries too", () => {
  assertStrictEquals(AppService, Appservice);
  assertStrictEquals(RateLimitError, LimitExceededError);
});
