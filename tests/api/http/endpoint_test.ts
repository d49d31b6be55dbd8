import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fillPath, queryString } from "../../../src/api/http/endpoint.ts";
import { ValueError } from "@greenroom/matrix/errors";
import { scripted } from "../../support/scripted_fetch.ts";

const SEND = "/_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}";
const STATE = "/_matrix/client/v3/rooms/{roomId}/state/{eventType}/{stateKey}";

/** The path as a server gets it: after a URL parser has had its way. */
const received = (path: string) => new URL(`https://hs.example.org${path}`).pathname;

Deno.test("fillPath() refuses what no URL can carry: nothing, `.`, `..`, half a surrogate pair, and what is no text", () => {
  for (const txnId of ["", ".", "..", "\ud800", "a\udc00b", undefined, null, 7, {}]) {
    assertThrows(() => fillPath(SEND, { roomId: "!r:x", eventType: "t", txnId }), ValueError, "txnId");
  }
  assertThrows(() => fillPath(STATE, { roomId: "!r:x", eventType: "t", stateKey: ".." }), ValueError);
  assertThrows(() => fillPath("/a/{constructor}", {}), ValueError);
  for (const dots of [".", ".."]) {
    assertThrows(() => fillPath("/a/{b}", { b: dots }), ValueError, `no URL can carry b "${dots}"`);
  }
});

Deno.test("fillPath() keeps every other parameter in its segment", () => {
  const hostile = [
    "../../admin",
    "..%2f..%2fadmin",
    "%2e%2e",
    "%2E%2E/",
    "../transport",
    "...",
    "a/b",
    "a\\b",
    "a?b=c",
    "a#b",
    "a%2Fb",
    "a;b,c",
    "//evil.example",
    "@evil.example",
    "\t..\n",
    " ",
    "\0",
    "ü🎭",
    ".hidden",
    "__proto__",
  ];
  for (const txnId of hostile) {
    const path = received(fillPath(SEND, { roomId: "!r:x", eventType: "t", txnId }));
    const segments = path.split("/");
    assertEquals(segments.length, 9, txnId);
    assertEquals(
      segments.slice(0, 8),
      ["", "_matrix", "client", "v3", "rooms", "!r%3Ax", "send", "t"],
      txnId,
    );
    assertEquals(decodeURIComponent(segments[8] ?? ""), txnId);
  }
});

Deno.test("fillPath() lets a state key be empty, and nothing else", () => {
  assertEquals(
    fillPath(STATE, { roomId: "!r:x", eventType: "m.room.name", stateKey: "" }),
    "/_matrix/client/v3/rooms/!r%3Ax/state/m.room.name/",
  );
  assertThrows(() => fillPath(STATE, { roomId: "!r:x", eventType: "", stateKey: "" }), ValueError);
});

Deno.test("HTTPAPI.request() takes the empty state key", async () => {
  const path = { roomId: "!r:x", eventType: "m.room.name", stateKey: "" };
  const { session: { http } } = scripted({
    "GET /_matrix/client/v3/rooms/!r:x/state/m.room.name/": { name: "Stage" },
  });
  assertEquals(await http.request("GET", STATE, { path }), { name: "Stage" });
});

Deno.test("fillPath() refuses a template that is no path, or that a URL parser would change", () => {
  const bad = [
    "",
    "x",
    ".evil.example/x",
    "@evil.example/",
    "/a/../b",
    "/a/%2e%2E/b",
    "/a/.",
    "/a?b",
    "/a#b",
    "/a\\b",
    "/a b",
  ];
  for (const template of bad) assertThrows(() => fillPath(template, {}), ValueError);
  assertEquals(fillPath("/_matrix/client/v3/pushrules/", {}), "/_matrix/client/v3/pushrules/");
});

Deno.test("HTTPAPI.request() sends nothing, and no token anywhere, for a path that leaves the homeserver", async () => {
  const { session: { http }, requests } = scripted();
  for (const path of [".evil.example/x", "@evil.example/x", ":80/x", "https://evil.example/"]) {
    await assertRejects(() => http.request("GET", path), ValueError);
  }
  await assertRejects(() => http.request("GET", "/a/{b}", { path: { b: ".." } }), ValueError);
  assertEquals(requests, []);
});

Deno.test("queryString() leaves absent values out, repeats lists and escapes all", () => {
  assertEquals(queryString(), "");
  assertEquals(queryString({ a: undefined }, undefined, {}), "");
  assertEquals(
    queryString({ a: "x&y=z#", b: 0, c: false, via: ["one", "two"] }, { d: "" }),
    "?a=x%26y%3Dz%23&b=0&c=false&via=one&via=two&d=",
  );
});

Deno.test("queryString() gives a server what was put in, and U+FFFD for half of a surrogate pair", () => {
  const hostile = ["a b", "a+b", "100%", "%41", "?&=#/", "ü", "\u{1f600}", "\n", "\0", "", "{b}", "'!*()~"];
  for (const text of hostile) {
    for (const query of [{ key: text }, { key: [text, text] }, { [text]: "value" }]) {
      const expected = Object.entries(query).flatMap(([key, value]) =>
        [value].flat().map((one) => [key, one])
      );
      const { searchParams, hash } = new URL(`https://hs.example.org/x${queryString(query)}`);
      assertEquals([[...searchParams], hash], [expected, ""]);
    }
  }
  assertEquals(queryString({ a: "x\ud800" }), "?a=x%EF%BF%BD");
});

Deno.test("HTTPAPI keeps the path of its base URL in front of every request's", async () => {
  for (
    const baseUrl of [
      "https://example.org/matrix/hs",
      "https://example.org/matrix/hs/",
      new URL("https://example.org/matrix/hs//"),
    ]
  ) {
    const { session: { http }, log } = scripted({ "GET /matrix/hs/_matrix/client/versions": {} }, {
      baseUrl,
    });
    await http.request("GET", "/_matrix/client/versions");
    assertEquals(http.baseUrl, "https://example.org/matrix/hs");
    assertEquals(log(), ["GET /matrix/hs/_matrix/client/versions"]);
  }
});

Deno.test("HTTPAPI refuses a base URL that is none, or that holds a secret or a query", () => {
  const bad = [
    "",
    "example.org",
    "ftp://example.org",
    "mxc://a/b",
    "https://u:p@example.org",
    "https://example.org?a",
    "https://example.org#a",
    "https://exa mple.org",
    "https://example.org/_matrix",
    "https://example.org/a/_matrix/client/v3/",
  ];
  for (const baseUrl of bad) {
    const error = assertThrows(() => scripted({}, { baseUrl }), ValueError);
    assert(!error.message.includes("u:p"));
  }
  assertThrows(() => scripted({}, { baseUrl: "example.org" }), ValueError, '"example.org"');
  for (const baseUrl of ["u:p@example.org", "syt_Ym90_abc"]) {
    assert(!assertThrows(() => scripted({}, { baseUrl }), ValueError).message.includes(baseUrl));
  }
  const { session: { http } } = scripted();
  assertThrows(() => http.baseUrl = "nowhere", ValueError);
  assertEquals(http.baseUrl, "https://hs.example.org");
});

Deno.test("HTTPAPI sends the identity and the timestamp of an application service as query parameters", async () => {
  const answers = { "GET /x": {} };
  const { session: { http }, requests } = scripted(answers, { asUserId: "@ghost:x", asDeviceId: "GHOST" });
  await http.request("GET", "/x", { query: { own: 1 } });
  await http.request("GET", "/x", { asUserId: "@other:x", asDeviceId: "OTHER", timestamp: 17 });
  assertEquals(requests.map(({ query }) => query), [
    "user_id=%40ghost%3Ax&device_id=GHOST&org.matrix.msc3202.device_id=GHOST&own=1",
    "user_id=%40other%3Ax&device_id=OTHER&org.matrix.msc3202.device_id=OTHER&ts=17",
  ]);
});

Deno.test("HTTPAPI sends JSON bodies with all methods but GET, and refuses what JSON can't express", async () => {
  const { session: { http }, requests } = scripted({
    "GET /x": {},
    "POST /x": {},
    "PUT /x": {},
    "DELETE /x": {},
  });
  await http.request("GET", "/x", { body: { lost: true } });
  await http.request("POST", "/x", { body: { a: undefined, b: "ü" } });
  await http.request("PUT", "/x");
  await http.request("DELETE", "/x");
  assertEquals(requests.map(({ body }) => body), [undefined, { b: "ü" }, {}, {}]);
  assertEquals(requests.map(({ headers }) => headers.get("content-type")), [
    null,
    ...Array(3).fill("application/json"),
  ]);
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  for (const body of [{ big: 1n }, circular]) {
    await assertRejects(() => http.request("PUT", "/x", { body }), ValueError);
  }
  assertEquals(requests.length, 4);
});
