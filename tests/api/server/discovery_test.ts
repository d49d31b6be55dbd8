import { assert, assertEquals, assertRejects } from "@std/assert";
import type { DiscoverOptions } from "@greenroom/matrix/types";
import {
  ValueError,
  WellKnownError,
  WellKnownInvalidIdentityServerError,
  WellKnownInvalidVersionsError,
  WellKnownMissingHomeserverError,
  WellKnownNotJsonError,
  WellKnownNotUrlError,
  WellKnownUnreachableError,
  WellKnownUnsupportedSchemeError,
} from "@greenroom/matrix/errors";
import { discover } from "../../../src/api/server/discovery.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { requestProblems } from "../../support/openapi.ts";
import { untilSettled } from "../../support/scripted_fetch.ts";

type Answer = Response | Error | object | ((signal: AbortSignal) => Promise<Response>);

const FILE = "https://example.org/.well-known/matrix/client";
const VERSIONS = "https://hs.example.org/_matrix/client/versions";
const good = { "m.homeserver": { base_url: "https://hs.example.org" } };
const versions = { versions: ["v1.16"] };
const IDENTITY = "/_matrix/identity/v2";

/** Asks for a domain's homeserver among answers by URL; what is not there is a 404. */
function asking(domain: string, answers: Record<string, Answer>, options: DiscoverOptions = {}) {
  const clock = new TestClock();
  const asked: string[] = [];
  const run = () =>
    untilSettled(
      clock,
      discover(domain, {
        clock,
        log: false,
        ...options,
        fetch: async (input, init) => {
          const url = String(input);
          asked.push(url);
          const headers = new Headers(init?.headers);
          if (!url.endsWith(IDENTITY)) { // of the identity service API
            assertEquals(requestProblems({ method: "GET", url, headers, body: undefined }), []);
          }
          assert(!new Headers(init?.headers).has("authorization"));
          const answer = answers[url] ?? new Response("Not found", { status: 404 });
          if (answer instanceof Error) throw answer;
          if (typeof answer === "function") return await answer(init?.signal ?? new AbortController().signal);
          return answer instanceof Response ? answer.clone() : Response.json(answer);
        },
      }),
    );
  return { run, asked };
}

Deno.test("discover() gives the address of the homeserver, having seen that it is one", async () => {
  const { run, asked } = asking("example.org", { [FILE]: good, [VERSIONS]: versions });
  assertEquals([await run(), asked], ["https://hs.example.org", [FILE, VERSIONS]]);
});

Deno.test("discover() keeps a path, leaves slashes at the end out, and looks at no content type", async () => {
  const cases: [string, string][] = [
    ["https://hs.example.org/", "https://hs.example.org"],
    ["https://hs.example.org//", "https://hs.example.org"],
    ["https://example.org/matrix/", "https://example.org/matrix"],
    ["http://hs.example.org:8008", "http://hs.example.org:8008"],
  ];
  for (const [base_url, expected] of cases) {
    const body = new Response(JSON.stringify({ "m.homeserver": { base_url } }), {
      headers: { "content-type": "text/html" },
    });
    const { run } = asking("example.org", {
      [FILE]: body,
      [`${expected}/_matrix/client/versions`]: versions,
    });
    assertEquals(await run(), expected);
  }
});

Deno.test("discover() leaves the port of the domain out, and takes addresses", async () => {
  for (
    const [domain, host] of [["example.org:8448", "example.org"], ["[::1]:8448", "[::1]"], [
      "1.2.3.4",
      "1.2.3.4",
    ]] as const
  ) {
    const { run } = asking(domain, {
      [`https://${host}/.well-known/matrix/client`]: good,
      [VERSIONS]: versions,
    });
    assertEquals(await run(), "https://hs.example.org");
  }
});

Deno.test("discover() gives nothing if there is no discovery file", async () => {
  for (const body of ["<html>No</html>", '{"errcode":"M_NOT_FOUND"}', '{"errcode":"M_UNRECOGNIZED"}']) {
    const { run, asked } = asking("example.org", { [FILE]: new Response(body, { status: 404 }) });
    assertEquals([await run(), asked.length], [undefined, 1]);
  }
});

Deno.test("discover() refuses an invalid domain, and makes no request", async () => {
  for (
    const domain of [
      "",
      "https://example.org",
      "example.org/x",
      "a@example.org",
      "example.org?x",
      "exa mple.org",
      "example.org:port",
      "example.org:65536",
      "@a",
      "@a:",
      "@a:example.org:port",
      "[zz]",
      "[:::]",
    ]
  ) {
    const { run, asked } = asking(domain, {});
    await assertRejects(run, ValueError);
    assertEquals(asked, []);
  }
});

const unreachable: Record<string, Answer> = {
  "no answer": new TypeError("dns"),
  "status 500": new Response("{}", { status: 500 }),
  "status 403": new Response(JSON.stringify(good), { status: 403 }),
  "status 204": new Response(null, { status: 204 }),
  "status 202": Response.json(good, { status: 202 }),
  "a redirect in a circle": new Response(null, { status: 302, headers: { location: FILE } }),
  "a redirect to plain http": new Response(null, {
    status: 302,
    headers: { location: FILE.replace("https", "http") },
  }),
  "an endless file": new Response(`{"x":"${"x".repeat(300_000)}"}`),
};
for (const [what, answer] of Object.entries(unreachable)) {
  Deno.test(`discover() fails with WellKnownUnreachableError if the discovery file can't be had: ${what}`, async () => {
    const error = await assertRejects(
      asking("example.org", { [FILE]: answer }).run,
      WellKnownUnreachableError,
    );
    assert(error instanceof WellKnownError && error.message.includes("example.org"));
  });
}

Deno.test("discover() says why there is no discovery file", async () => {
  const { run } = asking("example.org", { [FILE]: new TypeError("dns error: no such name") });
  const { message } = await assertRejects(run, WellKnownUnreachableError);
  assertEquals(
    message,
    "Cannot discover the homeserver: https://example.org gives no discovery file: the connection to example.org " +
      "failed: dns error: no such name",
  );
});

Deno.test("discover() takes the ID of a user for the user's domain", async () => {
  for (const user of ["@alice:example.org", "@alice:example.org:8448", "@:example.org"]) {
    const { run, asked } = asking(user, { [FILE]: good, [VERSIONS]: versions });
    assertEquals([await run(), asked], ["https://hs.example.org", [FILE, VERSIONS]]);
  }
});

Deno.test("discover() makes sure of the identity server, if the domain names one", async () => {
  const named = { ...good, "m.identity_server": { base_url: "https://id.example.org/" } };
  const url = `https://id.example.org${IDENTITY}`;
  const { run, asked } = asking("example.org", { [FILE]: named, [VERSIONS]: versions, [url]: {} });
  assertEquals([await run(), asked], ["https://hs.example.org", [FILE, VERSIONS, url]]);
});

Deno.test("discover() fails with WellKnownInvalidIdentityServerError if the domain names one that is none", async () => {
  const url = `https://id.example.org${IDENTITY}`;
  const named = { base_url: "https://id.example.org" };
  const cases: [identityServer: unknown, answer: Answer][] = [
    [null, {}],
    [{}, {}],
    ["https://id.example.org", {}],
    [{ base_url: 7 }, {}],
    [{ base_url: "id.example.org" }, {}],
    [{ base_url: "ftp://id.example.org" }, {}],
    [{ base_url: "https://u:p@id.example.org" }, {}],
    [named, new Response("Not found", { status: 404 })],
    [named, new Response("<html>")],
    [named, new TypeError("dns")],
  ];
  for (const [server, answer] of cases) {
    const file = { ...good, "m.identity_server": server };
    const { run } = asking("example.org", { [FILE]: file, [VERSIONS]: versions, [url]: answer });
    const error = await assertRejects(run, WellKnownInvalidIdentityServerError, "example.org");
    assert(error instanceof WellKnownError && !error.message.includes("u:p"));
  }
});

Deno.test("discover() follows redirects", async () => {
  const { run } = asking("example.org", {
    [FILE]: new Response(null, { status: 301, headers: { location: "https://www.example.org/matrix.json" } }),
    "https://www.example.org/matrix.json": good,
    [VERSIONS]: versions,
  });
  assertEquals(await run(), "https://hs.example.org");
});

Deno.test("discover() says what is wrong with the discovery file by the error's class", async () => {
  const homeserver = (base_url: unknown) => Response.json({ "m.homeserver": { base_url } });
  const cases: [Answer, typeof WellKnownError][] = [
    [new Response("<html>"), WellKnownNotJsonError],
    [new Response(""), WellKnownNotJsonError],
    [new Response("[]"), WellKnownNotJsonError],
    [new Response("null"), WellKnownNotJsonError],
    [{}, WellKnownMissingHomeserverError],
    [{ "m.homeserver": "https://hs.example.org" }, WellKnownMissingHomeserverError],
    [{ "m.homeserver": {} }, WellKnownMissingHomeserverError],
    [homeserver(7), WellKnownMissingHomeserverError],
    [homeserver(null), WellKnownMissingHomeserverError],
    [homeserver(""), WellKnownNotUrlError],
    [homeserver("hs.example.org"), WellKnownNotUrlError],
    [homeserver("/matrix"), WellKnownNotUrlError],
    [homeserver("https://u:p@hs.example.org"), WellKnownNotUrlError],
    [homeserver("https://hs.example.org/?x=1"), WellKnownNotUrlError],
    [homeserver("ftp://hs.example.org"), WellKnownUnsupportedSchemeError],
    [homeserver("javascript:alert(1)"), WellKnownUnsupportedSchemeError],
    [homeserver("localhost:8008"), WellKnownUnsupportedSchemeError],
  ];
  for (const [answer, Class] of cases) {
    const error = await assertRejects(
      asking("example.org", { [FILE]: answer, [VERSIONS]: versions }).run,
      Class,
    );
    assertEquals(error.constructor, Class);
    assert(!error.message.includes("u:p"));
  }
});

Deno.test("discover() fails with WellKnownInvalidVersionsError if no homeserver is at the address", async () => {
  const answers: Answer[] = [
    new TypeError("dns"),
    new Response("Not found", { status: 404 }),
    new Response("<html>"),
    {},
    { versions: [] },
    { versions: "v1.1" },
    { versions: [1] },
    { versions: ["1.0", "latest"] },
  ];
  for (const answer of answers) {
    await assertRejects(
      asking("example.org", { [FILE]: good, [VERSIONS]: answer }).run,
      WellKnownInvalidVersionsError,
    );
  }
});

Deno.test("discover() ends with its signal's reason, and retries a lost connection", async () => {
  const controller = new AbortController();
  const hanging = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      controller.abort(new RangeError("enough"));
    });
  const ended = asking("example.org", { [FILE]: hanging }, { signal: controller.signal });
  await assertRejects(ended.run, RangeError, "enough");
  let tries = 0;
  const flaky = () =>
    ++tries === 1 ? Promise.reject(new TypeError("reset")) : Promise.resolve(Response.json(good));
  const { run, asked } = asking("example.org", { [FILE]: flaky, [VERSIONS]: versions });
  assertEquals([await run(), asked], ["https://hs.example.org", [FILE, FILE, VERSIONS]]);
});
