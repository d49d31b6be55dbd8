import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore, NetworkError, type Store, UnknownTokenError } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";
import type { OAuthSession } from "@greenroom/matrix/oauth";
import { LIFETIME, Stage, turns } from "./stage.ts";

const REFRESH = "refresh_token";

/** The tokens in the store. */
async function kept(store: Store): Promise<{ accessToken: string; refreshToken?: string }> {
  const [entry] = await Array.fromAsync(store.list(["greenroom.oauth", "session"]));
  return (entry?.value as { tokens: { accessToken: string } }).tokens;
}

/** The refresh tokens that were used, in order. */
const used = ({ asked }: Stage) =>
  asked.filter(({ form }) => form.get("grant_type") === REFRESH).map(({ form }) => form.get(REFRESH));

/** What becomes of a request of each, though time must pass for it. */
async function whoami(stage: Stage, ...sessions: OAuthSession[]): Promise<unknown[]> {
  const clients = sessions.map((session) => stage.client(session));
  const answers = Promise.all(
    clients.map((client) => client.whoami().then(({ user_id }) => user_id, String)),
  );
  const seen = await stage.until(answers);
  for (const client of clients) await client.close();
  return seen;
}

const BOT = "@bot:localhost";

/** The clock of a process that does not run, and of one whose clock was never set. */
const NO_TIME = { now: () => 0, delay: () => new Promise<void>(() => {}) };

Deno.test("An access token is refreshed before it expires, and the new pair is in the store before it is used", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  await using client = stage.client(session);
  await client.whoami();
  const before = await kept(stage.store);
  await stage.clock.tick(LIFETIME * 0.9);
  const isKept: boolean[] = [];
  stage.answer = async ({ pathname }, init) => {
    if (!pathname.endsWith("/whoami")) return undefined;
    const token = new Headers(init?.headers).get("authorization");
    isKept.push(token === `Bearer ${(await kept(stage.store)).accessToken}`);
    return undefined;
  };
  await client.whoami();
  assertEquals([stage.refreshes, isKept], [1, [true]]);
  const after = await kept(stage.store);
  assert(after.accessToken !== before.accessToken && after.refreshToken !== before.refreshToken);
});

Deno.test("A token that the server does not know is refreshed, whatever soft_logout says", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  await using client = stage.client(session);
  stage.homeserver.expireTokens(BOT); // before its time, as a clock that is wrong has it
  await Promise.all([client.whoami(), client.whoami(), client.getLoginFlows().catch(() => {})]);
  assertEquals(stage.refreshes, 1);
});

Deno.test("A restart goes on with the session, whose token has expired", async () => {
  await using stage = new Stage();
  await stage.login();
  await stage.clock.tick(10 * LIFETIME);
  assertEquals(await whoami(stage, await stage.resume()), [BOT]);
  assertEquals(stage.refreshes, 1);
});

Deno.test("An answer without expires_in, and a clock that was set back, lose nothing", async () => {
  await using stage = new Stage();
  await stage.login();
  assertEquals((await stage.resume({ clock: NO_TIME })).clientOptions.expiresIn, undefined);
  stage.answer = async (url, init) => {
    if (url.pathname !== "/oauth2/token") return undefined;
    const { expires_in: _, ...body } = await (await stage.homeserver.fetch(url, init)).json();
    return Response.json(body);
  };
  stage.homeserver.expireTokens(BOT);
  assertEquals(await whoami(stage, await stage.resume()), [BOT]);
  const session = await stage.resume();
  assertEquals(session.clientOptions.expiresIn, undefined);
  stage.homeserver.expireTokens(BOT);
  assertEquals(await whoami(stage, session), [BOT]);
  assertEquals(stage.refreshes, 2);
});

Deno.test("An answer without a refresh token leaves the old one", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  const { refreshToken } = await kept(stage.store);
  stage.answer = (url, init) => {
    if (url.pathname !== "/oauth2/token") return undefined;
    return stage.homeserver.fetch(url, init).then(async (answer) => {
      const { refresh_token: _, ...body } = await answer.json();
      return Response.json(body);
    });
  };
  stage.homeserver.expireTokens(BOT);
  assertEquals(await whoami(stage, session), [BOT]);
  assertEquals((await kept(stage.store)).refreshToken, refreshToken);
});

Deno.test("A refresh whose answer is lost is asked for again with the same token", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  stage.homeserver.faults.add({ match: { path: "/oauth2/token" }, kind: "drop-after", times: 1 });
  stage.homeserver.expireTokens(BOT);
  assertEquals(await whoami(stage, session), [BOT]);
  const [first, second, ...more] = used(stage);
  assertEquals([first === second, more], [true, []]);
});

Deno.test("A server that is away, answers 503, or answers nonsense is asked again", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  const answers = [
    () => new Response("busy", { status: 503 }),
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    () => Response.json({ error: "temporarily_unavailable" }, { status: 400 }),
    () => new Response("x".repeat(100_000)),
  ];
  stage.answer = ({ pathname }) => pathname === "/oauth2/token" ? answers.shift()?.() : undefined;
  stage.homeserver.expireTokens(BOT);
  await assertRejects(() => session.renew(session.clientOptions.accessToken), NetworkError, "503");
  assertEquals(await whoami(stage, session), [BOT]);
  assertEquals([answers.length, stage.refreshes], [0, 5]);
});

Deno.test("While the authorization server is away, an access token is used for as long as it lives", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  await using client = stage.client(session);
  stage.answer = ({ pathname }) => {
    if (pathname === "/oauth2/token") throw new TypeError("connection refused");
    return undefined;
  };
  await stage.clock.tick(LIFETIME * 0.95);
  assertEquals((await client.whoami({ retry: false })).user_id, BOT);
  await stage.clock.tick(LIFETIME * 0.05);
  await assertRejects(() => client.whoami({ retry: false }), NetworkError, "connection refused");
  stage.answer = () => undefined;
  assertEquals((await client.whoami()).user_id, BOT);
});

Deno.test("Of two processes one refreshes, and the other takes what has come of it", async () => {
  await using stage = new Stage();
  const sessions = [await stage.login(), await stage.resume()];
  stage.homeserver.expireTokens(BOT);
  assertEquals(await whoami(stage, ...sessions), [BOT, BOT]);
  assertEquals(stage.refreshes, 1);
});

Deno.test("A process that was killed while it refreshed is waited for, and its turn is taken then", async () => {
  await using stage = new Stage();
  const other = await stage.login();
  const killed = await stage.resume({ clock: NO_TIME });
  const old = killed.clientOptions.accessToken;
  stage.homeserver.expireTokens(BOT);
  const reached = Promise.withResolvers<void>();
  stage.answer = async (url, init) => {
    if (url.pathname !== "/oauth2/token") return undefined;
    stage.answer = () => undefined;
    await stage.homeserver.fetch(url, init); // the server has answered, but nobody hears it
    reached.resolve();
    return await new Promise<Response>(() => {});
  };
  void killed.renew(old);
  await reached.promise;
  const renewal = other.renew(old);
  for (let seconds = 0; seconds < 29; seconds++) {
    await turns();
    await stage.clock.tick(1_000);
  }
  assertEquals(stage.refreshes, 1); // the process may be alive yet
  const renewed = await stage.until(renewal);
  assertEquals([stage.refreshes, renewed?.accessToken], [2, (await kept(stage.store)).accessToken]);
  assertEquals(await whoami(stage, await stage.resume()), [BOT]);
});

Deno.test("A process that was paused while it refreshed does not undo what another has done", async () => {
  await using stage = new Stage();
  const other = await stage.login();
  const old = other.clientOptions.accessToken;
  stage.homeserver.expireTokens(BOT);
  const [reached, wakes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = await stage.resume({ clock: NO_TIME });
  stage.answer = async (url, init) => {
    if (url.pathname !== "/oauth2/token") return undefined;
    stage.answer = () => undefined;
    const answer = await stage.homeserver.fetch(url, init);
    reached.resolve();
    await wakes.promise;
    return answer;
  };
  const woken = late.renew(old);
  await reached.promise;
  const renewed = await stage.until(other.renew(old), 250);
  wakes.resolve();
  assertEquals((await woken)?.accessToken, renewed?.accessToken);
  assertEquals((await kept(stage.store)).accessToken, renewed?.accessToken);
  assertEquals(await whoami(stage, other), [BOT]);
});

Deno.test("Tokens that the store does not take at first are not asked for again", async () => {
  await using stage = new Stage();
  await stage.login();
  let isFull = false;
  const store = new MemoryStore();
  for await (const { key, value } of stage.store.list([])) await store.commit([{ type: "set", key, value }]);
  const commit = store.commit.bind(store);
  let commits = 0;
  store.commit = async (...given) => {
    // After the turn.
    if (isFull && ++commits === 2) throw new StoreError("Cannot write to the store: it is full");
    return await commit(...given);
  };
  const session = await stage.resume({ store });
  const { accessToken } = session.clientOptions;
  stage.homeserver.expireTokens(BOT);
  isFull = true;
  await assertRejects(() => session.renew(accessToken), StoreError);
  const renewed = await session.renew(accessToken);
  assertEquals([stage.refreshes, renewed?.accessToken], [1, (await kept(store)).accessToken]);
});

Deno.test("A session that was ended elsewhere ends the client, and says what to do", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  await using client = stage.client(session);
  const end = client.start().then(() => undefined, (error) => error);
  await turns();
  stage.homeserver.revokeTokens(BOT);
  assert(await stage.until(end) instanceof UnknownTokenError);
  assertEquals(stage.log.filter((line) => line.includes("somebody has to log in again")).length, 1);
  assertEquals(stage.refreshes, 1);
});

Deno.test("The refresh token goes to the server that it is from, and to no other", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  stage.answer = async (url, init) => {
    if (!url.pathname.endsWith("/auth_metadata")) return undefined;
    const metadata = await (await stage.homeserver.fetch(url, init)).json();
    return Response.json({ ...metadata, issuer: "https://evil.example/" });
  };
  stage.homeserver.expireTokens(BOT);
  const fresh = await stage.resume();
  assertEquals(await fresh.renew(session.clientOptions.accessToken), undefined);
  assertEquals(stage.refreshes, 0);
});

Deno.test("What a login has put in the place of a session is not given to those that had the old one", async () => {
  await using stage = new Stage();
  const old = await stage.login();
  const { accessToken } = old.clientOptions;
  await stage.login();
  assertEquals(await old.renew(accessToken), undefined);
});

Deno.test("No error and no log line repeats a token, though the server does", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  const { accessToken, refreshToken = "" } = await kept(stage.store);
  stage.answer = ({ pathname }, init) => {
    if (pathname !== "/oauth2/token") return undefined;
    const said = `you have sent ${init?.body}`;
    if (stage.refreshes === 1) throw new TypeError(said);
    return Response.json({ error: "invalid_grant", error_description: said }, { status: 400 });
  };
  stage.homeserver.expireTokens(BOT);
  const failure = await assertRejects(() => session.renew(accessToken), NetworkError);
  assertEquals(await session.renew(accessToken), undefined);
  const said = `${Deno.inspect(failure)} ${stage.log.join()}`;
  assert(said.includes("invalid_grant"));
  assertEquals([refreshToken, accessToken].filter((token) => said.includes(token)), []);
});

Deno.test("A 401 of a proxy ends no session: the refresh is tried again", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  stage.answer = ({ pathname }) =>
    pathname.endsWith("/token")
      ? new Response("<html>", {
        status: 401,
        headers: { "www-authenticate": "Basic", "content-type": "text/html" },
      })
      : undefined;
  const before = await kept(stage.store);
  await assertRejects(() => session.renew(before.accessToken), NetworkError);
  stage.answer = () => undefined;
  assert(await session.renew(before.accessToken) !== undefined);
});
