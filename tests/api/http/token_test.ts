import { IS_TOKEN_DEAD } from "../../../src/api/http/mod.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { Tokens } from "@greenroom/matrix";
import { NetworkError, UnknownTokenError, ValueError } from "@greenroom/matrix/errors";
import { TestClock } from "@greenroom/matrix/testing";
import { expiring, REFRESH, softLogout, tokenOf } from "../../support/expiring.ts";
import {
  inTurn,
  refusal,
  type Rule,
  scripted,
  type ScriptedOptions,
  type ScriptedRequest,
  untilSettled,
} from "../../support/scripted_fetch.ts";

Deno.test("The token goes into the Authorization header, and nowhere else", async () => {
  const { session: { http }, requests } = scripted({ "POST /x": {} }, { accessToken: "t-secret" });
  await http.request("POST", "/x", {
    headers: { authorization: "Bearer other", AUTHORIZATION: "third", "x-own": "kept" },
    body: { a: 1 },
    query: { b: 2 },
  });
  const { headers, path, query, body } = requests[0] ?? {};
  assertEquals([headers?.get("authorization"), headers?.get("x-own")], ["Bearer t-secret", "kept"]);
  assertEquals([path, query, body], ["/x", "b=2", { a: 1 }]);
});

Deno.test("Without a token there is no Authorization header, not even a caller's", async () => {
  const { session: { http }, requests } = scripted({ "GET /x": {} }, { accessToken: "" });
  await http.request("GET", "/x", { headers: { authorization: "Bearer other" } });
  assert(!requests[0]?.headers.has("authorization"));
});

Deno.test("A token or a header that can't be sent is refused before anything is, and shown nowhere", async () => {
  for (const token of ["two\nlines", "sp ace", "ümlaut", "nul\0"]) {
    const error = assertThrows(() => scripted({}, { accessToken: token }), ValueError);
    assert(!Deno.inspect(error).includes(token.slice(0, 3)));
  }
  const { session: { http }, requests } = scripted({ "GET /x": {} });
  for (const [name, value] of [["x-own", "a\r\nb: c"], ["bad name", "a"], ["x-own", "\0"]] as const) {
    const headers = { [name]: value };
    await assertRejects(() => http.request("GET", "/x", { headers }), ValueError);
  }
  assertEquals(requests, []);
});

Deno.test("A soft logout is answered by one refresh, however many requests meet it", async () => {
  const { http, server, requests } = expiring();
  server.current = 100; // t0 has expired, and r0 has not
  const answers = await Promise.all(Array.from({ length: 20 }, () => http.request("GET", "/x")));
  assertEquals(answers, Array(20).fill({ ok: true }));
  assertEquals([server.refreshes, http.accessToken], [1, "t101"]);
  const refresh = requests.find(({ path }) => path.endsWith("/refresh"));
  assertEquals([refresh?.body, refresh && tokenOf(refresh)], [{ refresh_token: "r0" }, null]);
});

Deno.test("A POST that met a soft logout is sent again, for it was refused and not done", async () => {
  const { http, server, log } = expiring();
  server.current = 100;
  assertEquals(await http.request("POST", "/x"), { ok: true });
  assertEquals(log(), ["POST /x", REFRESH, "POST /x"]);
});

Deno.test("A new pair of tokens is persisted before it is used", async () => {
  const { promise: saved, resolve: save } = Promise.withResolvers<void>();
  const persisted: Tokens[] = [];
  const clock = new TestClock();
  const { http, server, requests } = expiring({
    clock,
    onTokensRefreshed: async (tokens) => {
      await saved;
      persisted.push(tokens);
    },
  });
  server.current = 100;
  const first = http.request("GET", "/x");
  await clock.tick();
  const second = http.request("GET", "/x");
  await clock.tick();
  assertEquals([http.accessToken, requests.some((request) => tokenOf(request) === "Bearer t101")], [
    "t0",
    false,
  ]);
  save();
  assertEquals(await Promise.all([first, second]), [{ ok: true }, { ok: true }]);
  assertEquals(persisted.map(({ accessToken, refreshToken }) => [accessToken, refreshToken]), [[
    "t101",
    "r101",
  ]]);
});

Deno.test("A pair that could not be persisted is not used; the old one serves for the next refresh", async () => {
  let broken = true;
  const { http, server, requests } = expiring({
    onTokensRefreshed: () => {
      if (broken) throw new RangeError("disk full");
    },
  });
  server.current = 100;
  await assertRejects(() => http.request("GET", "/x"), RangeError, "disk full");
  assertEquals(http.accessToken, "t0");
  broken = false;
  assertEquals(await http.request("GET", "/x"), { ok: true });
  const refreshes = requests.filter(({ path }) => path.endsWith("/refresh"));
  assertEquals(refreshes.map(({ body }) => body), [{ refresh_token: "r0" }, { refresh_token: "r0" }]);
});

Deno.test("A request that arrives with the old token when the new one was used is repeated with that", async () => {
  const late = Promise.withResolvers<void>();
  const { http, server, requests } = expiring({}, undefined, {
    "GET /late": async (request: ScriptedRequest) => {
      if (tokenOf(request) !== "Bearer t0") return { ok: true };
      await late.promise;
      return refusal(401, "M_UNKNOWN_TOKEN", { soft_logout: false });
    },
  });
  const answer = http.request("GET", "/late");
  server.current = 1;
  await http.request("GET", "/x");
  late.resolve();
  assertEquals(await answer, { ok: true });
  assertEquals(requests.filter(({ path }) => path === "/late").map(tokenOf), ["Bearer t0", "Bearer t2"]);
});

Deno.test("A refresh that the server refuses fails the requests with the soft logout, and is not tried again", async () => {
  for (const [status, errcode] of [[401, "M_UNKNOWN_TOKEN"], [403, "M_FORBIDDEN"]] as const) {
    const { http, server, log } = expiring({}, () => refusal(status, errcode, { soft_logout: false }));
    server.current = 100;
    for (let round = 0; round < 2; round++) {
      const error = await assertRejects(() => http.request("GET", "/x"), UnknownTokenError);
      assertEquals([error.operation, error.isSoftLogout], ["request /x", true]);
    }
    assertEquals([log(), http[IS_TOKEN_DEAD]], [["GET /x", REFRESH, "GET /x"], true]);
  }
});

Deno.test("A refused refresh of a token that is known to have expired leaves to the server how it has ended", async () => {
  for (const isSoft of [true, false]) {
    const clock = new TestClock();
    const x = () => refusal(401, "M_UNKNOWN_TOKEN", { soft_logout: isSoft });
    const dead = refusal(401, "M_UNKNOWN_TOKEN", {});
    const { http, log } = expiring({ clock, expiresIn: 1 }, dead, { "GET /x": x });
    await clock.tick(1);
    const error = await assertRejects(() => http.request("GET", "/x"), UnknownTokenError);
    assertEquals([error.isSoftLogout, log()], [isSoft, [REFRESH, "GET /x"]]);
  }
});

Deno.test("A refresh outlasts a lost connection, and fails the requests as one if it goes on", async () => {
  const { http, server, clock } = expiring({}, new TypeError("connection reset"));
  server.current = 100;
  await assertRejects(() => untilSettled(clock, http.request("GET", "/x", { retry: false })), NetworkError);
  let tries = 0;
  const lucky: Rule = () => ++tries === 1 ? new TypeError("connection reset") : { access_token: "t100" };
  const again = expiring({}, lucky);
  again.server.current = 100;
  assertEquals(await untilSettled(again.clock, again.http.request("GET", "/x")), { ok: true });
  assertEquals([tries, again.http.isRefreshable], [2, true]);
});

Deno.test("A new token that is immediately invalid ends the request, without another refresh", async () => {
  const { http, server, log } = expiring({}, { access_token: "never-right" });
  server.current = 100;
  await assertRejects(() => http.request("GET", "/x"), UnknownTokenError);
  assertEquals(log(), ["GET /x", REFRESH, "GET /x"]);
  assert(http[IS_TOKEN_DEAD], "handlers that were cut off by it are not called again");
});

Deno.test("A new token that is invalid when it replaces an expired one is dead, too", async () => {
  const clock = new TestClock();
  const { http, server } = expiring({ clock, expiresIn: 1 }, { access_token: "never-right" });
  await clock.tick(1);
  server.current = 100;
  await assertRejects(() => http.request("GET", "/x"), UnknownTokenError);
  assert(http[IS_TOKEN_DEAD]);
});

Deno.test("A new token that has expired before it gets through is refreshed in its turn, a few times", async () => {
  const clock = new TestClock();
  for (const late of [1, 2, Infinity]) {
    let [refreshes, slow] = [0, late];
    const renewal: Rule = () => ({ access_token: `t${++refreshes}`, expires_in_ms: 1_000 });
    const x: Rule = async () => {
      if (refreshes === 0 || slow === 0) return refreshes === 0 ? softLogout.clone() : { ok: true };
      slow--;
      await clock.tick(1_000); // it was on its way for so long
      return softLogout.clone();
    };
    const { session: { http } } = scripted({ "GET /x": x, [REFRESH]: renewal }, {
      ...{ clock, accessToken: "t0", refreshToken: "r0" },
    });
    const asked = http.request("GET", "/x");
    if (late < Infinity) assertEquals(await asked, { ok: true });
    else await assertRejects(() => asked, UnknownTokenError);
    assertEquals([refreshes, http[IS_TOKEN_DEAD]], late < Infinity ? [late + 1, false] : [4, true]);
  }
});

Deno.test("A renewal that the network has prevented is tried again with the request that needs it", async () => {
  const reset = new TypeError("reset");
  const renewed = { access_token: "t1", refresh_token: "r1" };
  const clock = new TestClock();
  const retry = { maxRetries: 1 };
  const known = expiring({ clock, retry, expiresIn: 0 }, inTurn(reset, reset, renewed));
  known.server.current = 1;
  await untilSettled(clock, known.http.request("GET", "/x"));
  assertEquals(known.log(), [REFRESH, REFRESH, REFRESH, "GET /x"]);
  const learnt = expiring({ clock, retry }, inTurn(reset, reset, renewed));
  learnt.server.current = 1;
  await untilSettled(clock, learnt.http.request("GET", "/x"));
  assertEquals(learnt.log(), ["GET /x", REFRESH, REFRESH, "GET /x", REFRESH, "GET /x"]);
});

Deno.test("A token that is known to have expired is renewed before it is used", async () => {
  const clock = new TestClock();
  const { http, log, requests } = expiring({ clock, expiresIn: 60_000 });
  await http.request("GET", "/x");
  await clock.tick(60_000);
  await Promise.all([http.request("GET", "/x"), http.request("GET", "/x")]);
  assertEquals(log(), ["GET /x", REFRESH, "GET /x", "GET /x"]);
  assertEquals(requests.filter(({ path }) => path === "/x").map(tokenOf), [
    "Bearer t0",
    "Bearer t1",
    "Bearer t1",
  ]);
});

Deno.test("A token from before the clock was set back is renewed: its age is unknown", async () => {
  const clock = new TestClock();
  const { http, log } = expiring({ clock, expiresIn: 60_000 });
  await http.request("GET", "/x");
  await clock.tick(-60_000);
  await http.request("GET", "/x");
  await http.request("GET", "/x");
  assertEquals(log(), ["GET /x", REFRESH, "GET /x", "GET /x"]);
  const lasting = expiring({ clock });
  await clock.tick(-60_000);
  await lasting.http.request("GET", "/x");
  assertEquals(lasting.log(), ["GET /x"], "it does not expire");
});

Deno.test("A hard logout, and a soft one without a refresh token, is reported as it is", async () => {
  const hard = scripted({ "GET /x": refusal(401, "M_UNKNOWN_TOKEN") }, { refreshToken: "r0" });
  await assertRejects(() => hard.session.http.request("GET", "/x"), UnknownTokenError);
  assertEquals(hard.log(), ["GET /x"]);
  const soft = scripted({ "GET /x": softLogout });
  const error = await assertRejects(() => soft.session.http.request("GET", "/x"), UnknownTokenError);
  assertEquals([error.body.soft_logout, soft.log()], [true, ["GET /x"]]);
});

Deno.test("A login during a refresh is not undone by it", async () => {
  const { promise, resolve } = Promise.withResolvers<object>();
  const clock = new TestClock();
  const { http, server } = expiring({ clock }, () => promise);
  server.current = 100;
  const request = http.request("GET", "/x");
  await clock.tick();
  http.setTokens({ accessToken: "t100", refreshToken: "mine" });
  resolve({ access_token: "stale", refresh_token: "stale" });
  assertEquals(await request, { ok: true });
  assertEquals(http.accessToken, "t100");
});

Deno.test("A token is dead when the server does not know it and there is no new one, until there is", async () => {
  const down = new TypeError("connection refused");
  const ways: [ScriptedOptions, Rule | undefined, boolean][] = [
    [{ refreshToken: undefined }, undefined, true],
    [{}, undefined, false], // it is renewed
    [{}, refusal(401, "M_UNKNOWN_TOKEN", {}), true],
    [{ retry: false }, () => Promise.reject(down), false],
  ];
  for (const [options, refresh, isDead] of ways) {
    const { http, server } = expiring(options, refresh);
    await http.request("GET", "/x");
    assert(!http[IS_TOKEN_DEAD]);
    server.current = 1;
    await http.request("GET", "/x").catch(() => {});
    assertEquals(http[IS_TOKEN_DEAD], isDead);
    http.accessToken = "t0"; // the same
    assertEquals(http[IS_TOKEN_DEAD], isDead);
    http.accessToken = "t1";
    assert(!http[IS_TOKEN_DEAD]);
  }
});
