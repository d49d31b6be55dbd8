import { assert, assertEquals, assertRejects } from "@std/assert";
import { Homeserver } from "@greenroom/matrix/testing";
import { ALL_ROUTES } from "../../src/testing/routes/routes.ts";
import { type Json, stage } from "./harness.ts";

Deno.test("fetch: reaches this homeserver and nothing else", async () => {
  await using homeserver = new Homeserver();
  await assertRejects(
    () => homeserver.fetch("https://example.org/"),
    TypeError,
    "Cannot fetch https://example.org/",
  );
  assertEquals(homeserver.requests.length, 0);
});

Deno.test("fetch: takes a Request, a URL and a string", async () => {
  await using homeserver = new Homeserver();
  const url = `${homeserver.baseUrl}/_matrix/client/versions`;
  for (const input of [url, new URL(url), new Request(url)]) {
    const response = await homeserver.fetch(input);
    assertEquals([response.status, response.url], [200, url]);
    await response.body?.cancel();
  }
});

Deno.test("fetch: options say what a Request made of them says", async () => {
  await using homeserver = new Homeserver();
  const url = `${homeserver.baseUrl}/_matrix/client/v3/login?a=b#c`;
  const json = { "content-type": "application/json" };
  const all: RequestInit[] = [
    {},
    { method: "post", body: "{}" },
    { method: "POST", body: "" },
    { method: "POST", body: "{}", headers: json },
    { method: "PUT", body: "ä" },
    { method: "PUT", body: new Uint8Array([1, 2]) },
    { method: "DELETE", body: "{}", headers: [["X-Test", "1"]] },
    { method: "PATCH", body: new URLSearchParams({ a: "b" }) },
  ];
  const seen = async (...of: Parameters<typeof fetch>) => {
    await (await homeserver.fetch(...of)).body?.cancel();
    const { method, path, query, headers, json } = homeserver.requests.last ?? {};
    return { method, path, query: `${query}`, headers: [...headers ?? []], json };
  };
  for (const init of all) assertEquals(await seen(url, init), await seen(new Request(url, init)));
  for (const init of [{ body: "{}" }, { method: "GET", body: "" }, { headers: { "bad name": "1" } }]) {
    await assertRejects(() => homeserver.fetch(url, init), TypeError);
  }
});

Deno.test("fetch: rejects immediately with the reason of a signal that was aborted before", async () => {
  await using homeserver = new Homeserver();
  const signal = AbortSignal.abort(new Error("never mind"));
  await assertRejects(() => homeserver.fetch(`${homeserver.baseUrl}/`, { signal }), Error, "never mind");
  assertEquals(homeserver.requests.length, 0);
});

Deno.test("fetch: an unknown path is a 404, a known one with the wrong method a 405", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  assertEquals(await alice.refusal("GET", "/no/such/path"), [404, "M_UNRECOGNIZED"]);
  assertEquals(await alice.refusal("DELETE", "/createRoom"), [405, "M_UNRECOGNIZED"]);
  assertEquals(await alice.refusal("GET", "/_matrix/client/r0/joined_rooms"), [200, undefined]);
});

Deno.test("fetch: path parameters keep their slashes, dots and sharps", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const key = "a/b#c?d%e";
  await alice.ok("PUT", `/rooms/${room}/state/com.example.x/${encodeURIComponent(key)}`, { ok: 1 });
  assertEquals(scene.homeserver.room(room).state("com.example.x", key), { ok: 1 });
});

Deno.test("fetch: bodies that are no JSON objects have errors of their own", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const post = async (body: string) => {
    const url = `${scene.homeserver.baseUrl}/_matrix/client/v3/createRoom`;
    const headers = { authorization: `Bearer ${alice.token}` };
    return (await (await scene.homeserver.fetch(url, { method: "POST", body, headers })).json()).errcode;
  };
  assertEquals(await post("{"), "M_NOT_JSON");
  assertEquals(await post("[]"), "M_BAD_JSON");
});

Deno.test("fetch: preflight requests are answered for browsers", async () => {
  await using homeserver = new Homeserver();
  const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/v3/login`, {
    method: "OPTIONS",
  });
  assertEquals([response.status, response.headers.get("access-control-allow-origin")], [204, "*"]);
});

Deno.test("requests: keeps method, path, query, body, user and status", async () => {
  await using scene = stage(["alice"], { requestLogSize: 2 });
  const { alice } = scene.users;
  const { requests } = scene.homeserver;
  await alice.send("POST", "/createRoom?via=test", { name: "Logged" });
  const { last } = requests;
  assertEquals([last?.method, last?.path, last?.query.get("via")], [
    "POST",
    "/_matrix/client/v3/createRoom",
    "test",
  ]);
  assertEquals([last?.json, last?.user, last?.status], [{ name: "Logged" }, "@alice:localhost", 200]);
  for (let i = 0; i < 10; i++) await alice.send("GET", "/account/whoami");
  assert(requests.length <= 4);
  assertEquals(requests.filter("GET", /whoami$/).length, requests.length);
  requests.clear();
  assertEquals([...requests], []);
});

Deno.test("robust: no request brings the homeserver down, whatever its parameters and body", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const event = scene.homeserver.room(room).events[0]?.event_id ?? "";
  const values = ["", "x", room, event, "@alice:localhost", "m.read", "0", "%00", "__proto__", "constructor"];
  const bodies: Json[] = [
    undefined,
    {},
    ...[null, 1, "x", [], [null], {}, { x: null }, true].map((value) => ({
      ...Object.fromEntries(KEYS.map((key) => [key, value])),
      auth: { type: "m.login.password", user: "alice", password: "wrong" },
    })),
  ];
  for (const { method, path } of ALL_ROUTES) {
    if (path.endsWith("/sync")) continue;
    for (const value of values) {
      const filled = path.replaceAll(/\{(\w+)\}/g, () => value);
      for (const body of method === "GET" ? [undefined] : bodies) {
        const query =
          `?from=${value}&limit=${value}&dir=${value}&at=${value}&version=${value}&ts=${value}&filter=${value}`;
        const answer = await alice.send(method, `${filled}${query}`, body).catch(() => undefined);
        const isAnswered = (answer?.status ?? 200) < 500 || answer?.status === 502 ||
          answer?.status === 504 ||
          path.endsWith("/3pid/bind"); // there Synapse answers 500 of an identity server that it can't reach
        assert(isAnswered, `${method} ${filled}`);
      }
      if (path.endsWith("/logout") || path.endsWith("/logout/all")) {
        const login = {
          type: "m.login.password",
          identifier: { type: "m.id.user", user: "alice" },
          password: "password of alice",
        };
        alice.token = (await alice.ok("POST", "/login", login)).access_token;
      }
    }
  }
});

const KEYS = [
  ...[
    "messages",
    "device_keys",
    "one_time_keys",
    "fallback_keys",
    "users",
    "membership",
    "user_id",
    "reason",
    "name",
  ],
  ...[
    "topic",
    "preset",
    "invite",
    "initial_state",
    "creation_content",
    "power_level_content_override",
    "visibility",
  ],
  ...[
    "room_id",
    "search_term",
    "limit",
    "filter",
    "search_categories",
    "typing",
    "timeout",
    "presence",
    "displayname",
  ],
  ...[
    "actions",
    "conditions",
    "pattern",
    "enabled",
    "kind",
    "data",
    "rooms",
    "sessions",
    "auth_data",
    "algorithm",
  ],
  ...[
    "master_key",
    "self_signing_key",
    "@alice:localhost",
    "new_version",
    "devices",
    "m.fully_read",
    "m.read",
    "room",
  ],
  ...[
    "m.relates_to",
    "m.mentions",
    "body",
    "msgtype",
    "identifier",
    "password",
    "type",
    "refresh_token",
    "thread_id",
  ],
];
