import { assert, assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";
import { Appservice } from "@greenroom/matrix/appservice";
import { within } from "../e2e/support/deadline.ts";
import { appserviceScene, message, registration } from "./scene.ts";

const base = "https://echo.example/some/where";
const AUTH = { authorization: `Bearer ${registration.hs_token}` };

function put(body: string, init: RequestInit = {}): Request {
  return new Request(`${base}/_matrix/app/v1/transactions/t1`, {
    method: "PUT",
    headers: AUTH,
    body,
    ...init,
  });
}

const refusals: [string, Request, number, string, string?][] = [
  [
    "an unknown path",
    new Request(`${base}/_matrix/app/v1/elsewhere`, { headers: AUTH }),
    404,
    "M_UNRECOGNIZED",
  ],
  [
    "POST of a transaction",
    put("{}", { method: "POST" }),
    405,
    "M_UNRECOGNIZED",
    "PUT",
  ],
  [
    "GET of a ping",
    new Request(`${base}/_matrix/app/v1/ping`, { headers: AUTH }),
    405,
    "M_UNRECOGNIZED",
    "POST",
  ],
  [
    "DELETE of a user",
    new Request(`${base}/_matrix/app/v1/users/@a:b`, { method: "DELETE" }),
    405,
    "M_UNRECOGNIZED",
    "GET",
  ],
  ["no token", put("{}", { headers: {} }), 401, "M_MISSING_TOKEN"],
  ["an empty token", put("{}", { headers: { authorization: "Bearer " } }), 401, "M_MISSING_TOKEN"],
  ["another scheme", put("{}", { headers: { authorization: "Basic abc" } }), 401, "M_MISSING_TOKEN"],
  ["another token", put("{}", { headers: { authorization: "Bearer wrong" } }), 403, "M_FORBIDDEN"],
  [
    "the token of the application service",
    put("{}", { headers: { authorization: `Bearer ${registration.as_token}` } }),
    403,
    "M_FORBIDDEN",
  ],
  [
    "a huge token",
    put("{}", { headers: { authorization: `Bearer ${"x".repeat(5_000)}` } }),
    403,
    "M_FORBIDDEN",
  ],
  [
    "a wrong header beside the right query",
    new Request(`${base}/_matrix/app/v1/users/@a:b?access_token=${registration.hs_token}`, {
      headers: { authorization: "Bearer wrong" },
    }),
    403,
    "M_FORBIDDEN",
  ],
  ["no JSON", put("{"), 400, "M_NOT_JSON"],
  ["a list", put("[]"), 400, "M_BAD_JSON"],
  ["no events", put("{}"), 400, "M_BAD_JSON"],
  ["events that are no list", put(`{"events":{}}`), 400, "M_BAD_JSON"],
  [
    "a body of a gigabyte, by its length",
    put(`{"events":[]}`, { headers: { ...AUTH, "content-length": "1073741824" } }),
    413,
    "M_TOO_LARGE",
  ],
  [
    "a path that can't be decoded",
    new Request(`${base}/_matrix/app/v1/users/%ff`, { headers: AUTH }),
    400,
    "M_INVALID_PARAM",
  ],
  [
    "a transaction ID of 1,001 characters",
    new Request(`${base}/_matrix/app/v1/transactions/${"t".repeat(1_001)}`, {
      method: "PUT",
      headers: AUTH,
      body: `{"events":[]}`,
    }),
    400,
    "M_INVALID_PARAM",
  ],
  [
    "an unknown user",
    new Request(`${base}/_matrix/app/v1/users/@a:b`, { headers: AUTH }),
    404,
    "M_NOT_FOUND",
  ],
  [
    "an unknown alias",
    new Request(`${base}/_matrix/app/v1/rooms/%23a:b`, { headers: AUTH }),
    404,
    "M_NOT_FOUND",
  ],
  [
    "an unknown network",
    new Request(`${base}/_matrix/app/v1/thirdparty/protocol/irc`, { headers: AUTH }),
    404,
    "M_NOT_FOUND",
  ],
];
for (const [name, request, status, errcode, allow] of refusals) {
  Deno.test(`An application service refuses ${name} with ${status}, and keeps nothing`, async () => {
    await using scene = await appserviceScene();
    const response = await scene.serving?.fetch(request) as Response;
    const text = await response.text();
    assertEquals([response.status, JSON.parse(text).errcode], [status, errcode]);
    assertEquals(response.headers.get("allow") ?? undefined, allow);
    for await (const entry of scene.store.list(["appservice"])) assert(entry === undefined);
    for (const secret of [registration.hs_token, registration.as_token]) {
      assert(!`${text}${JSON.stringify(scene.stage.log)}`.includes(secret));
    }
  });
}

Deno.test("A body that goes on for ever is refused after 32 MiB, and not before its token is right", async () => {
  await using scene = await appserviceScene();
  for (const [token, status] of [["wrong", 403], [registration.hs_token, 413]] as const) {
    let read = 0;
    const body = new ReadableStream({
      pull(controller) {
        read += 1_000_000;
        controller.enqueue(new Uint8Array(1_000_000).fill(32));
      },
    }, { highWaterMark: 0 });
    const response = await scene.serving?.fetch(
      put("", { body, headers: { authorization: `Bearer ${token}` } }),
    );
    assertEquals(response?.status, status);
    assert(status === 403 ? read === 0 : read < 40_000_000);
  }
});

Deno.test("A transaction by a path from before the API had a prefix, or with the token in the query, is taken", async () => {
  await using scene = await appserviceScene();
  const body = (text: string) => JSON.stringify({ events: [message(scene.roomId, text)] });
  const legacy = new Request(`${base}/transactions/1?access_token=${registration.hs_token}`, {
    method: "PUT",
    body: body("a"),
  });
  assertEquals((await scene.serving?.fetch(legacy))?.status, 200);
  assertEquals((await scene.serving?.fetch(put(body("b"))))?.status, 200);
  assertEquals(scene.answers(), ["1: a", "2: b"]);
});

Deno.test("Health is answered without a token", async () => {
  await using scene = await appserviceScene();
  assertEquals((await scene.serving?.fetch(new Request(`${base}/health`)))?.status, 200);
});

Deno.test("A user whom the homeserver asks for is registered, with the profile that the handler gives", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const { alice, roomId, stage } = scene;
  const asked: string[] = [];
  scene.serving = scene.instance({
    queries: {
      user(userId) {
        asked.push(userId);
        return userId.startsWith("@_echo_known") ? { displayname: "Known" } : undefined;
      },
    },
  });
  const elsewhere = new Request(`${base}/_matrix/app/v1/users/@_echo_known:elsewhere`, { headers: AUTH });
  assertEquals((await scene.serving.fetch(elsewhere)).status, 404);
  await alice.inviteUser(roomId, "@_echo_known:localhost");
  await alice.inviteUser(roomId, "@_echo_unknown:localhost");
  await alice.inviteUser(roomId, "@someone:localhost");
  await stage.until(() => asked.length === 2);
  await stage.settle();
  assertEquals(asked, ["@_echo_known:localhost", "@_echo_unknown:localhost"]);
  assertEquals(await alice.getDisplayname("@_echo_known:localhost"), "Known");
});

Deno.test("A room whose alias the homeserver asks for is made by the handler", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const appservice = scene.serving = scene.instance({
    queries: {
      async room(alias) {
        if (alias !== "#echo_hall:localhost") return false;
        await appservice.botClient.createRoom({ aliasLocalpart: "echo_hall", preset: "public_chat" });
        return true;
      },
    },
  });
  const roomId = await scene.alice.joinRoom("#echo_hall:localhost");
  assertEquals(scene.stage.homeserver.room(roomId).state("m.room.canonical_alias"), {
    alias: "#echo_hall:localhost",
  });
});

Deno.test("Questions about networks reach their handlers, without the token", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const appservice = scene.instance({
    thirdParty: {
      protocol: (protocol) => protocol === "irc" ? { instances: [] } : undefined,
      usersOf: (protocol, fields) => [{ protocol, userid: "@a:b", fields }],
      locationsOf: (protocol, fields) => [{ protocol, alias: "#a:b", fields }],
      user: (userid) => [{ userid }],
      location: (alias) => [{ alias }],
    },
  });
  const get = async (path: string) =>
    await (await appservice.fetch(new Request(`${base}/_matrix/app/${path}`, { headers: AUTH }))).json();
  assertEquals(await get("v1/thirdparty/protocol/irc"), { instances: [] });
  assertEquals(await get("v1/thirdparty/user/irc?nick=n&access_token=secret"), [
    { protocol: "irc", userid: "@a:b", fields: { nick: "n" } },
  ]);
  assertEquals(await get("unstable/thirdparty/location/irc?c=%23d"), [
    { protocol: "irc", alias: "#a:b", fields: { c: "#d" } },
  ]);
  assertEquals(await get("v1/thirdparty/user?userid=%40a%3Ab"), [{ userid: "@a:b" }]);
  assertEquals(await get("v1/thirdparty/location?alias=%23a%3Ab"), [{ alias: "#a:b" }]);
});

Deno.test("A query handler that throws is answered 500, and logged without secrets", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const appservice = scene.instance({
    queries: {
      user() {
        throw new TypeError("broken");
      },
    },
  });
  const request = new Request(`${base}/_matrix/app/v1/users/@_echo_a:localhost`, { headers: AUTH });
  assertEquals((await appservice.fetch(request)).status, 500);
  assert(!JSON.stringify(scene.stage.log).includes(registration.hs_token));
});

Deno.test("An application service whose backlog is full answers 503", async () => {
  await using scene = await appserviceScene({ isServing: false });
  await scene.store.commit([{
    type: "set",
    key: ["appservice", "@echo:localhost", "echo", "head"],
    value: { last: 10_000, removed: 0, ids: [] },
  }]);
  scene.serving = scene.instance();
  const response = await scene.send("t1", [message(scene.roomId, "a")]);
  assertEquals([response.status, (await response.json()).errcode], [503, "M_LIMIT_EXCEEDED"]);
});

Deno.test("An Appservice needs no homeserver to answer", async () => {
  await using homeserver = new Homeserver();
  const appservice = new Appservice({ registration, serverName: "localhost", baseUrl: homeserver.baseUrl });
  assertEquals((await appservice.fetch(put("{}"))).status, 400);
  await appservice.close();
});

/** A port that nothing listens at. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("With a port an application service listens while it is started, and answers there", async () => {
  await using scene = await appserviceScene();
  const appservice = scene.instance();
  const port = freePort();
  const ask = async (): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/_matrix/app/v1/users/@_echo_a:localhost`);
    return (await response.json()).errcode;
  };
  const running = appservice.start({ port, hostname: "127.0.0.1", ping: false });
  assertEquals(await ask(), "M_MISSING_TOKEN");
  await appservice.stop();
  await running;
  await assertRejects(ask, TypeError);
  const again = appservice.start({ port, hostname: "127.0.0.1", ping: false });
  await appservice.stop(); // before it listens
  await within(again, "the end of a start that was stopped at once");
});

Deno.test("A port that can't be, and one that another program has, are refused", async () => {
  await using scene = await appserviceScene();
  const appservice = scene.instance();
  for (const port of [-1, 0.5, 65_536, "9000" as never]) {
    await assertRejects(
      () => appservice.start({ port }),
      ValueError,
      "port must be a whole number from 0 to 65535",
    );
  }
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const options = { port: taken.addr.port, hostname: "127.0.0.1", ping: false };
  await assertRejects(() => appservice.start(options), Deno.errors.AddrInUse);
});
