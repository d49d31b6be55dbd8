import { IS_TOKEN_DEAD } from "../../../src/api/http/mod.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { EndedTokens } from "@greenroom/matrix";
import { UnknownTokenError } from "@greenroom/matrix/errors";
import { expiring, REFRESH, softLogout, tokenOf } from "../../support/expiring.ts";
import { refusal, type Rule } from "../../support/scripted_fetch.ts";

Deno.test("Other tokens are found before the refresh token is used, once for all requests", async () => {
  const asked: EndedTokens[] = [];
  const { http, server, log } = expiring({
    async findTokens(ended) {
      asked.push(ended);
      return await Promise.resolve({ accessToken: "t100", refreshToken: "r100" });
    },
  });
  server.current = 100;
  const answers = await Promise.all(Array.from({ length: 5 }, () => http.request("GET", "/x")));
  assertEquals(answers, Array(5).fill({ ok: true }));
  assertEquals(asked, [{
    tokens: { accessToken: "t0", refreshToken: "r0", expiresIn: undefined },
    end: "expired",
  }]);
  assertEquals([log().includes(REFRESH), http.accessToken], [false, "t100"]);
});

Deno.test("Tokens that were found and have expired, too, are refreshed", async () => {
  const { http, server, requests } = expiring({
    findTokens: ({ tokens }) =>
      tokens.accessToken === "t0" ? { accessToken: "t1", refreshToken: "r1" } : undefined,
  });
  server.current = 100;
  assertEquals(await http.request("GET", "/x"), { ok: true });
  assertEquals(requests.map(({ body, headers }) => body ?? headers.get("authorization")), [
    "Bearer t0",
    "Bearer t1",
    { refresh_token: "r1" },
    "Bearer t101",
  ]);
});

Deno.test("Tokens are found when a refresh is refused, and when there was a logout", async () => {
  const refused = () => refusal(403, "M_FORBIDDEN", {});
  const hard: Rule = (request) =>
    tokenOf(request) === "Bearer new" ? { ok: true } : refusal(401, "M_UNKNOWN_TOKEN", {});
  const soft: Rule = (request) => tokenOf(request) === "Bearer new" ? { ok: true } : softLogout.clone();
  for (const [rule, ends] of [[soft, ["expired", "soft-logout"]], [hard, ["logout"]]] as const) {
    const asked: string[] = [];
    const { http } = expiring(
      {
        findTokens({ end }) {
          asked.push(end);
          return end === "expired" ? undefined : { accessToken: "new" };
        },
      },
      refused,
      { "GET /x": rule },
    );
    assertEquals(await http.request("GET", "/x"), { ok: true });
    assertEquals([asked, http.accessToken, http[IS_TOKEN_DEAD]], [ends, "new", false]);
  }
});

Deno.test("The same tokens, or ever others that are refused, end the request", async () => {
  const dead = () => refusal(401, "M_UNKNOWN_TOKEN", {});
  const same = expiring({ findTokens: ({ tokens }) => tokens }, dead, { "GET /x": dead });
  await assertRejects(() => same.http.request("GET", "/x"), UnknownTokenError);
  assertEquals(same.log(), ["GET /x"]);
  let count = 0;
  const others = expiring({ findTokens: () => ({ accessToken: `other${count++}` }) }, dead, {
    "GET /x": dead,
  });
  await assertRejects(() => others.http.request("GET", "/x"), UnknownTokenError);
  assertEquals([others.log().length, others.http[IS_TOKEN_DEAD]], [5, true]);
});

Deno.test("What could not be asked for tokens fails the request, and is asked again by the next one", async () => {
  let broken = true;
  const { http, server } = expiring({
    findTokens() {
      if (broken) throw new RangeError("disk full");
      return { accessToken: "t100" };
    },
  });
  server.current = 100;
  await assertRejects(() => http.request("GET", "/x"), RangeError, "disk full");
  assert(!http[IS_TOKEN_DEAD]);
  broken = false;
  assertEquals(await http.request("GET", "/x"), { ok: true });
});

Deno.test("A login while other tokens are looked for is what counts", async () => {
  const { http, server } = expiring({
    findTokens() {
      http.setTokens({ accessToken: "t100" });
      return { accessToken: "older" };
    },
  });
  server.current = 100;
  assertEquals(await http.request("GET", "/x"), { ok: true });
  assertEquals(http.accessToken, "t100");
});

Deno.test("Who persists a new pair may say that another was persisted first, which is used then", async () => {
  const seen: unknown[] = [];
  const { http, server } = expiring({
    onTokensRefreshed(tokens, used) {
      seen.push(tokens.accessToken, used.accessToken, used.refreshToken);
      return { accessToken: "t200", refreshToken: "r200" };
    },
  }, () => {
    server.current = 200;
    return { access_token: "t101", refresh_token: "r101" };
  });
  server.current = 100;
  assertEquals(await http.request("GET", "/x"), { ok: true });
  assertEquals([seen, http.accessToken], [["t101", "t0", "r0"], "t200"]);
});
