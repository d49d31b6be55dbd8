import { assertEquals, assertRejects } from "@std/assert";
import { OAuthError } from "@greenroom/matrix/errors";
import { loginByDeviceCode } from "@greenroom/matrix/oauth";
import { Stage, turns } from "./stage.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** A login that a person has yet to agree to; what it fails with is its result. */
function begin(stage: Stage, signal?: AbortSignal) {
  const shown = Promise.withResolvers<string>();
  const login = loginByDeviceCode({
    ...stage.options,
    signal,
    onUserCode: ({ user_code }) => shown.resolve(user_code),
  });
  login.catch(shown.reject);
  return { login, shown: shown.promise };
}

const polls = ({ asked }: Stage) => asked.filter(({ form }) => form.get("grant_type") === GRANT).length;

Deno.test("loginByDeviceCode() is the device that it names, and whose the approval is", async () => {
  await using stage = new Stage();
  const session = await stage.login();
  await using client = stage.client(session);
  const { user_id, device_id } = await client.whoami();
  assertEquals([user_id, device_id], ["@bot:localhost", session.deviceId]);
  assertEquals([session.mxid, session.issuer], ["@bot:localhost", "https://localhost/"]);
  assertEquals(
    stage.asked.find(({ path }) => path === "/oauth2/device")?.form.get("scope"),
    `urn:matrix:client:api:* urn:matrix:client:device:${session.deviceId}`,
  );
});

Deno.test("It shows what the server says, and asks every five seconds if that says nothing", async () => {
  await using stage = new Stage({ interval: null });
  let given: unknown;
  const login = loginByDeviceCode({ ...stage.options, onUserCode: (each) => void (given = each) });
  await turns();
  const [{ userCode } = { userCode: "" }] = stage.homeserver.oauth.pending;
  assertEquals(given, {
    user_code: userCode,
    verification_uri: "https://localhost/link",
    verification_uri_complete: `https://localhost/link?code=${userCode}`,
    expires_in: 1_200,
  });
  const seen: number[] = [];
  for (let seconds = 0; seconds < 16; seconds++) {
    await stage.clock.tick(1_000);
    await turns();
    seen.push(polls(stage));
  }
  assertEquals([seen[3], seen[4], seen[8], seen[9], seen[14]], [0, 1, 1, 2, 3]);
  stage.homeserver.oauth.approve(userCode, "@bot:localhost");
  await stage.until(login);
});

Deno.test("It asks less often when the server wants that", async () => {
  await using stage = new Stage();
  let isSlow = true;
  stage.answer = ({ pathname }) => {
    if (pathname !== "/oauth2/token" || !isSlow) return undefined;
    isSlow = false;
    return Response.json({ error: "slow_down" }, { status: 400 });
  };
  const { login, shown } = begin(stage);
  const code = await shown;
  await turns();
  await stage.clock.tick(5_000);
  await turns();
  assertEquals(polls(stage), 1);
  await stage.clock.tick(9_000);
  await turns();
  assertEquals(polls(stage), 1);
  stage.homeserver.oauth.approve(code, "@bot:localhost");
  await stage.clock.tick(1_000);
  assertEquals((await login).mxid, "@bot:localhost");
});

Deno.test("A connection that breaks while it asks ends nothing", async () => {
  await using stage = new Stage();
  let broken = 2;
  stage.answer = ({ pathname }) => {
    if (pathname !== "/oauth2/token" || broken-- <= 0) return undefined;
    if (broken === 1) throw new TypeError("connection reset");
    return new Response("busy", { status: 503 });
  };
  assertEquals((await stage.login()).mxid, "@bot:localhost");
});

Deno.test("A refusal of the user and a code that expires end it", async () => {
  for (const [how, error] of [["deny", "access_denied"], ["wait", "expired_token"]] as const) {
    await using stage = new Stage();
    const { login, shown } = begin(stage);
    const code = await shown;
    if (how === "deny") stage.homeserver.oauth.deny(code);
    const failure = await assertRejects(() => stage.until(login, 60_000), OAuthError);
    assertEquals([failure.code, failure.error], ["OAUTH_REFUSED", error]);
    assertEquals(await Array.fromAsync(stage.store.list(["greenroom.oauth", "session"])), []);
  }
});

Deno.test("A signal ends it", async () => {
  await using stage = new Stage();
  const abort = new AbortController();
  const { login, shown } = begin(stage, abort.signal);
  await shown;
  abort.abort(new Error("enough"));
  await assertRejects(() => login, Error, "enough");
  await stage.clock.tick(20_000);
  await turns();
  assertEquals(polls(stage), 0);
});

Deno.test("A server without device codes is refused, with what to call in its place", async () => {
  await using stage = new Stage({ deviceGrant: false });
  const failure = await assertRejects(() => stage.login(), OAuthError, "loginByAuthorizationCode()");
  assertEquals(failure.code, "OAUTH_UNSUPPORTED");
});

Deno.test("A page that is not https, or a code that moves the cursor, is not shown", async () => {
  const good = {
    ...{ device_code: "d", user_code: "ABC", expires_in: 60 },
    verification_uri: "https://localhost/link",
  };
  for (
    const lie of [
      { verification_uri: "http://evil.example/link" },
      { verification_uri_complete: "javascript:alert(1)" },
      { user_code: "A\x1b[2J" },
      { user_code: "A".repeat(1_000) },
    ]
  ) {
    await using stage = new Stage();
    stage.answer = ({ pathname }) =>
      pathname === "/oauth2/device" ? Response.json({ ...good, ...lie }) : undefined;
    let isShown = false;
    const login = loginByDeviceCode({ ...stage.options, onUserCode: () => void (isShown = true) });
    const failure = await assertRejects(() => login, OAuthError);
    assertEquals([failure.code, isShown], ["OAUTH_RESPONSE", false]);
  }
});

Deno.test("A client is registered once for a store, and anew when the server has forgotten it", async () => {
  await using stage = new Stage();
  const registrations = () => stage.asked.filter(({ path }) => path === "/oauth2/registration").length;
  await stage.login();
  await stage.login();
  assertEquals(registrations(), 1);
  let isForgotten = true;
  stage.answer = ({ pathname }) => {
    if (pathname !== "/oauth2/device" || !isForgotten) return undefined;
    isForgotten = false;
    return Response.json({ error: "invalid_client" }, { status: 401 });
  };
  await stage.login();
  assertEquals(registrations(), 2);
});

Deno.test("A server that knows only the scopes from before the specification gets those", async () => {
  await using stage = new Stage();
  const scopes: string[] = [];
  stage.answer = ({ pathname }, init) => {
    if (pathname !== "/oauth2/device") return undefined;
    const scope = new URLSearchParams(String(init?.body)).get("scope") ?? "";
    scopes.push(scope);
    return scope.includes("msc2967") ? undefined : Response.json({ error: "invalid_scope" }, { status: 400 });
  };
  const { deviceId } = await stage.login();
  const unstable = "urn:matrix:org.matrix.msc2967.client";
  assertEquals(scopes, [
    `urn:matrix:client:api:* urn:matrix:client:device:${deviceId}`,
    `${unstable}:api:* ${unstable}:device:${deviceId}`,
  ]);
});

Deno.test("A token of another device or user than was asked for is revoked, and not kept", async () => {
  await using stage = new Stage();
  stage.homeserver.createUser("eve");
  for (const [device, mxid] of [["OTHER", undefined], [undefined, "@eve:localhost"]] as const) {
    stage.answer = ({ pathname }) =>
      pathname.endsWith("/whoami") && device !== undefined
        ? Response.json({ user_id: "@bot:localhost", device_id: device })
        : undefined;
    const login = loginByDeviceCode({
      ...stage.options,
      mxid,
      onUserCode: ({ user_code }) => void stage.homeserver.oauth.approve(user_code, "@bot:localhost"),
    });
    const failure = await assertRejects(() => stage.until(login, 5_000), OAuthError, "the token is that of");
    assertEquals(failure.code, "OAUTH_RESPONSE");
    assertEquals(stage.asked.at(-1)?.path, "/oauth2/revoke");
    assertEquals(await Array.fromAsync(stage.store.list(["greenroom.oauth", "session"])), []);
  }
});

Deno.test("A token without the scopes of Matrix is revoked, and the error says what it may lack", async () => {
  await using stage = new Stage();
  stage.answer = ({ pathname }) =>
    pathname.endsWith("/whoami") ? Response.json({ errcode: "M_UNKNOWN_TOKEN" }, { status: 401 }) : undefined;
  const failure = await assertRejects(() => stage.login(), OAuthError, "scopes");
  assertEquals([failure.code, stage.asked.at(-1)?.path], ["OAUTH_RESPONSE", "/oauth2/revoke"]);
});
