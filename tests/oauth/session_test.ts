import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, NetworkError, ValueError } from "@greenroom/matrix";
import { OAuthError, UnrecognizedError } from "@greenroom/matrix/errors";
import { getSsoRedirectUrl, loginByDeviceCode, loginBySso, OAuthSession } from "@greenroom/matrix/oauth";
import { Homeserver } from "@greenroom/matrix/testing";
import { Stage, turns } from "./stage.ts";

const BOT = "@bot:localhost";

/** What is in the store of a session. */
const kept = async ({ store }: Stage) => await Array.fromAsync(store.list(["greenroom.oauth", "session"]));

Deno.test("client.logout() revokes the tokens, which deletes the device, and forgets the session", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  await using client = stage.client(session);
  const { accessToken } = session.clientOptions;
  await client.logout();
  assertEquals(stage.asked.at(-1)?.form.get("token_type_hint"), "refresh_token");
  assertEquals([client.api.accessToken, await kept(stage)], ["", []]);
  const headers = { authorization: `Bearer ${accessToken}` };
  const url = `${stage.homeserver.baseUrl}/_matrix/client/v3/account/whoami`;
  const answer = await stage.homeserver.fetch(url, { headers });
  await answer.body?.cancel();
  assertEquals(answer.status, 401);
});

Deno.test("A logout that the server does not hear leaves the session", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  stage.answer = ({ pathname }) => {
    if (pathname === "/oauth2/revoke") throw new TypeError("connection reset");
    return undefined;
  };
  await assertRejects(() => session.logout(), NetworkError);
  assertEquals((await kept(stage)).length, 1);
  stage.answer = () => undefined;
  await using client = stage.client(session);
  assertEquals((await client.whoami()).user_id, BOT);
});

Deno.test("A server that revokes no tokens is said to, with where to end the session", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  stage.answer = async (url, init) => {
    if (!url.pathname.endsWith("/auth_metadata")) return undefined;
    const { revocation_endpoint: _, ...rest } = await (await stage.homeserver.fetch(url, init)).json();
    return Response.json(rest);
  };
  await assertRejects(() => session.logout(), OAuthError, "account management");
});

Deno.test("OAuthSession.resume() finds the session of a user, and wants to know whose among several", async () => {
  await using stage = new Stage();
  stage.homeserver.createUser("eve");
  const { store, clock } = stage.options;
  assertEquals(await OAuthSession.resume({ store, clock }), undefined);
  const { deviceId } = await stage.login();
  assertEquals((await OAuthSession.resume({ store, clock }))?.deviceId, deviceId);
  const eve = await stage.until(loginByDeviceCode({
    ...stage.options,
    onUserCode: ({ user_code }) => void stage.homeserver.oauth.approve(user_code, "@eve:localhost"),
  }));
  await assertRejects(() => OAuthSession.resume({ store, clock }), ValueError, "mxid");
  const found = await OAuthSession.resume({ store, clock, mxid: "@eve:localhost" });
  assertEquals(found?.deviceId, eve.deviceId);
});

Deno.test("The account management is opened by the names that the server knows", async () => {
  await using stage = new Stage();
  const { deviceId } = await stage.login();
  const names = {
    supported: undefined as readonly string[] | undefined,
    uri: "https://localhost/account/?lang=en" as string | undefined,
  };
  stage.answer = async (url, init) => {
    if (!url.pathname.endsWith("/auth_metadata")) return undefined;
    return Response.json({
      ...await (await stage.homeserver.fetch(url, init)).json(),
      account_management_uri: names.uri,
      account_management_actions_supported: names.supported,
    });
  };
  const url = async () => {
    const session = await stage.resume();
    return await session.getAccountManagementUrl({ action: "org.matrix.device_view", deviceId });
  };
  const page = "https://localhost/account/?lang=en";
  assertEquals(await (await stage.resume()).getAccountManagementUrl(), page);
  assertEquals(await url(), `${page}&action=org.matrix.device_view&device_id=${deviceId}`);
  names.supported = ["org.matrix.session_view"];
  assertEquals(await url(), `${page}&action=org.matrix.session_view&device_id=${deviceId}`);
  names.supported = [];
  assertEquals(await url(), undefined);
  names.uri = undefined;
  assertEquals(await url(), undefined);
});

Deno.test("Metadata that can't be used is no failure of the network", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  stage.answer = ({ pathname }) =>
    pathname.endsWith("/auth_metadata") ? Response.json({ issuer: "https://localhost/" }) : undefined;
  const fresh = await stage.resume();
  const error = await assertRejects(() => fresh.getAccountManagementUrl(), OAuthError);
  assertEquals(error.code, "OAUTH_METADATA");
  await assertRejects(() => fresh.logout(), OAuthError);
  // It is tried again.
  await assertRejects(() => fresh.renew(session.clientOptions.accessToken), NetworkError);
});

Deno.test("A logout waits for what another process refreshes, and revokes that", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  const other = await stage.resume();
  const [reached, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  stage.answer = async (url, init) => {
    if (url.pathname !== "/oauth2/token") return undefined;
    const answer = await stage.homeserver.fetch(url, init);
    reached.resolve();
    await goesOn.promise;
    return answer;
  };
  const renewal = other.renew(session.clientOptions.accessToken);
  await reached.promise;
  const logout = session.logout();
  await turns();
  assertEquals(stage.asked.at(-1)?.path, "/oauth2/token", "nothing is revoked yet");
  goesOn.resolve();
  const renewed = await renewal;
  await stage.until(logout, 250);
  const revoked = stage.asked.filter(({ path }) => path === "/oauth2/revoke");
  assertEquals([revoked.length, await kept(stage)], [1, []]);
  const headers = { authorization: `Bearer ${renewed?.accessToken}` };
  const url = `${stage.homeserver.baseUrl}/_matrix/client/v3/account/whoami`;
  const answer = await stage.homeserver.fetch(url, { headers });
  await answer.body?.cancel();
  assertEquals(answer.status, 401);
});

Deno.test("A login in the place of a session revokes that, unless it is of the same device", async () => {
  await using stage = new Stage();
  const first = await stage.login();
  const revocations = () => stage.asked.filter(({ path }) => path === "/oauth2/revoke").length;
  const second = await stage.login();
  assertEquals([revocations(), first.deviceId === second.deviceId], [1, false]);
  stage.answer = ({ pathname }) => {
    if (pathname === "/oauth2/revoke") throw new TypeError("connection reset");
    return undefined;
  };
  const third = await stage.login();
  assertEquals(revocations(), 2, "what can't be revoked fails no login");
  assert(stage.log.some((line) => line.includes(second.deviceId)), stage.log.join());
  stage.answer = () => undefined;
  const same = await stage.login({ deviceId: third.deviceId });
  assertEquals(revocations(), 2);
  await using client = stage.client(same);
  assertEquals((await client.whoami()).user_id, BOT);
});

Deno.test("A login by password on a server with OAuth 2.0 only says what to call", async () => {
  await using stage = new Stage();
  const { baseUrl, fetch, clock } = stage.options;
  await using client = new Client({ baseUrl, fetch, clock, log: false });
  const login = () => client.login({ identifier: BOT, password: "tea" });
  await assertRejects(
    login,
    UnrecognizedError,
    "this server offers OAuth 2.0 only: call loginByDeviceCode()",
  );
  await assertRejects(() => client.getLoginFlows(), UnrecognizedError);
  stage.answer = ({ pathname }) =>
    pathname.endsWith("/auth_metadata")
      ? Response.json({ errcode: "M_UNRECOGNIZED" }, { status: 404 })
      : undefined;
  const failure = await assertRejects(login, UnrecognizedError);
  assert(!failure.message.includes("OAuth"));
});

Deno.test("logoutAll() on a server with OAuth 2.0 only says where sessions are ended", async () => {
  await using stage = new Stage();
  await using client = stage.client(await stage.login());
  stage.answer = async (url, init) => {
    if (url.pathname.endsWith("/logout/all")) {
      return Response.json({ errcode: "M_UNRECOGNIZED" }, { status: 404 });
    }
    if (!url.pathname.endsWith("/auth_metadata")) return undefined;
    const metadata = await (await stage.homeserver.fetch(url, init)).json();
    return Response.json({ ...metadata, account_management_uri: "https://localhost/account/" });
  };
  const error = await assertRejects(
    () => client.logoutAll(),
    UnrecognizedError,
    "end them in the account management",
  );
  assert(error.message.includes("https://localhost/account/"), error.message);
  assert((await client.whoami()).user_id === BOT, "the client keeps its token");
});

Deno.test("The address of a single sign-on has the provider in its path, and nothing breaks out of that", () => {
  const base = "https://matrix.example.org/";
  const redirectUrl = "http://127.0.0.1:1/?a=b&c=d";
  assertEquals(
    getSsoRedirectUrl(base, { redirectUrl, idpId: "a/../b", action: "register" }),
    "https://matrix.example.org/_matrix/client/v3/login/sso/redirect/a%2F..%2Fb" +
      "?redirectUrl=http%3A%2F%2F127.0.0.1%3A1%2F%3Fa%3Db%26c%3Dd&action=register",
  );
});

Deno.test("loginBySso() takes the token that the browser comes back with, and none of another login", async () => {
  await using homeserver = new Homeserver();
  const { accessToken } = homeserver.createUser("bot");
  const { baseUrl, fetch: send } = homeserver;
  await using phone = new Client({ baseUrl, fetch: send, accessToken, log: false });
  await using client = new Client({ baseUrl, fetch: send, log: false });
  await loginBySso(client, {
    deviceName: "Bot",
    async onRedirectUrl(url) {
      const back = new URL(new URL(url).searchParams.get("redirectUrl") ?? "");
      const { login_token } = await phone.getLoginToken({ authentication: { password: "password of bot" } });
      const visit = async (address: URL) => {
        const answer = await fetch(address);
        await answer.body?.cancel();
        return answer.status;
      };
      assertEquals(await visit(new URL(`${back.origin}/?state=forged&loginToken=evil`)), 400);
      back.searchParams.set("loginToken", login_token);
      assertEquals(await visit(back), 200);
    },
  });
  assertEquals((await client.whoami()).user_id, BOT);
});
