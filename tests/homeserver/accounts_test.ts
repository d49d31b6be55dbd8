import { assertEquals, assertNotEquals } from "@std/assert";
import { Homeserver, sequentialIds } from "@greenroom/matrix/testing";
import { Caller, stage } from "./harness.ts";

const SOFT = true;
const HARD = false;

/** A login of Alice with refresh tokens. */
const LOGIN = {
  type: "m.login.password",
  identifier: { type: "m.id.user", user: "alice" },
  password: "password of alice",
  refresh_token: true,
};

Deno.test("POST /register asks for the dummy stage and then makes a user with a device", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  alice.token = "";
  const challenge = await alice.send("POST", "/register", { username: "bob", password: "secret" });
  assertEquals(challenge.status, 401);
  assertEquals(challenge.body.flows, [{ stages: ["m.login.dummy"] }]);
  assertEquals(challenge.body.errcode, undefined);
  const auth = { type: "m.login.dummy", session: challenge.body.session };
  const bob = await alice.ok("POST", "/register", {
    username: "bob",
    password: "secret",
    device_id: "PHONE",
    auth,
  });
  assertEquals([bob.user_id, bob.device_id], ["@bob:localhost", "PHONE"]);
  alice.token = bob.access_token;
  assertEquals(await alice.ok("GET", "/account/whoami"), {
    user_id: "@bob:localhost",
    device_id: "PHONE",
    is_guest: false,
  });
});

Deno.test("POST /register without a login makes no device", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  alice.token = "";
  const auth = { type: "m.login.dummy" };
  const answer = await alice.ok("POST", "/register", {
    username: "bob",
    password: "x",
    inhibit_login: true,
    auth,
  });
  assertEquals(answer, { user_id: "@bob:localhost", home_server: "localhost" });
});

Deno.test("POST /register refuses names that are taken or malformed", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const auth = { type: "m.login.dummy" };
  const register = (username: string) =>
    alice.refusal("POST", "/register", { username, password: "x", auth });
  assertEquals(await register("bob"), [400, "M_UNKNOWN"]); // with an access token
  alice.token = "";
  assertEquals(await register("n".repeat(246)), [400, "M_INVALID_USERNAME"]);
  assertEquals(await register("alice"), [400, "M_USER_IN_USE"]);
  assertEquals(await register("a b"), [400, "M_INVALID_USERNAME"]);
  await using closed = stage(["carol"], { registration: false });
  closed.users.carol.token = "";
  assertEquals(await closed.users.carol.refusal("POST", "/register", { username: "x" }), [
    403,
    "M_FORBIDDEN",
  ]);
});

Deno.test("POST /login checks the password and keeps the name of a known device", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const login = (password: string, extra = {}) =>
    alice.send("POST", "/login", {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: "alice" },
      password,
      ...extra,
    });
  assertEquals((await login("wrong")).body.errcode, "M_FORBIDDEN");
  const first = await login("password of alice", {
    device_id: "LAPTOP",
    initial_device_display_name: "Laptop",
  });
  assertEquals(first.body.device_id, "LAPTOP");
  await login("password of alice", { device_id: "LAPTOP", initial_device_display_name: "Other" });
  assertEquals((await alice.ok("GET", "/devices/LAPTOP")).display_name, "Laptop");
});

Deno.test("a token that was never given, or none at all, is refused", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  alice.token = "unknown";
  const unknown = await alice.send("GET", "/account/whoami");
  assertEquals([unknown.status, unknown.body.errcode, unknown.body.soft_logout], [
    401,
    "M_UNKNOWN_TOKEN",
    false,
  ]);
  const response = await scene.homeserver.fetch(
    `${scene.homeserver.baseUrl}/_matrix/client/v3/account/whoami`,
  );
  assertEquals((await response.json()).errcode, "M_MISSING_TOKEN");
});

Deno.test("an expired token is a soft logout, and POST /refresh gives a new pair", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const login = await alice.ok("POST", "/login", LOGIN);
  assertEquals(login.expires_in_ms, 300_000);
  alice.token = login.access_token;
  await alice.ok("GET", "/account/whoami");
  await scene.clock.tick(300_000);
  const expired = await alice.send("GET", "/account/whoami");
  assertEquals([expired.status, expired.body.errcode, expired.body.soft_logout], [
    401,
    "M_UNKNOWN_TOKEN",
    true,
  ]);
  const pair = await alice.ok("POST", "/refresh", { refresh_token: login.refresh_token });
  assertNotEquals(pair.refresh_token, login.refresh_token);
  alice.token = pair.access_token;
  assertEquals((await alice.ok("GET", "/account/whoami")).device_id, login.device_id);
});

Deno.test("POST /refresh may be repeated until the new pair was used, and no longer", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { refresh_token } = await alice.ok("POST", "/login", LOGIN);
  await alice.ok("POST", "/refresh", { refresh_token });
  const pair = await alice.ok("POST", "/refresh", { refresh_token });
  alice.token = pair.access_token;
  await alice.ok("GET", "/account/whoami");
  assertEquals(await alice.refusal("POST", "/refresh", { refresh_token }), [401, "M_UNKNOWN_TOKEN"]);
});

Deno.test("expireTokens() and revokeTokens() end the sessions of a user softly and hard", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { next_batch } = await alice.sync();
  const waiting = alice.send("GET", `/sync?since=${next_batch}&timeout=30000`);
  await scene.clock.tick();
  scene.homeserver.expireTokens("@alice:localhost");
  assertEquals((await waiting).body.soft_logout, SOFT);
  scene.homeserver.revokeTokens("@alice:localhost");
  assertEquals((await alice.send("GET", "/account/whoami")).body.soft_logout, HARD);
});

Deno.test("POST /logout ends the session and deletes the device, POST /logout/all deletes all of them", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const body = {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: "alice" },
    password: "password of alice",
  };
  const tokens: string[] = [];
  for (let i = 0; i < 3; i++) tokens.push((await alice.ok("POST", "/login", body)).access_token);
  assertEquals((await alice.ok("GET", "/devices")).devices.length, 4);
  await alice.ok("POST", "/logout", {});
  assertEquals(await alice.refusal("GET", "/devices"), [401, "M_UNKNOWN_TOKEN"]);
  alice.token = tokens[0] ?? "";
  assertEquals((await alice.ok("GET", "/devices")).devices.length, 3);
  await alice.ok("POST", "/logout/all", {});
  alice.token = tokens[1] ?? "";
  assertEquals(await alice.refusal("GET", "/devices"), [401, "M_UNKNOWN_TOKEN"]);
});

Deno.test("a login token opens one session", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { login_token } = await alice.ok("POST", "/_matrix/client/v1/login/get_token", {});
  const body = { type: "m.login.token", token: login_token };
  assertEquals((await alice.ok("POST", "/login", body)).user_id, alice.id);
  assertEquals(await alice.refusal("POST", "/login", body), [403, "M_FORBIDDEN"]);
});

Deno.test("deleting a device takes the password, in a session that is for nothing else", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const login = {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: "alice" },
    password: "password of alice",
    device_id: "OLD",
  };
  await alice.ok("POST", "/login", login);
  const { session } = (await alice.send("DELETE", "/devices/OLD", {})).body;
  const auth = (password: string) => ({
    auth: { type: "m.login.password", identifier: { type: "m.id.user", user: "alice" }, password, session },
  });
  const wrong = await alice.send("DELETE", "/devices/OLD", auth("wrong"));
  assertEquals([wrong.status, wrong.body.errcode, wrong.body.session], [401, "M_FORBIDDEN", session]);
  const elsewhere = await alice.send("POST", "/account/deactivate", auth("password of alice"));
  assertEquals(elsewhere.status, 403);
  await alice.ok("DELETE", "/devices/OLD", auth("password of alice"));
  assertEquals(await alice.refusal("GET", "/devices/OLD"), [404, "M_NOT_FOUND"]);
});

Deno.test("POST /account/password changes the password and ends the other sessions", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const login = (password: string) =>
    alice.send("POST", "/login", {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: "alice" },
      password,
    });
  await login("password of alice");
  const auth = {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: "alice" },
    password: "password of alice",
  };
  await alice.ok("POST", "/account/password", { new_password: "better", auth });
  assertEquals((await alice.ok("GET", "/devices")).devices.length, 1);
  assertEquals((await login("password of alice")).status, 403);
  assertEquals((await login("better")).status, 200);
});

Deno.test("a deactivated account is gone from its rooms and can't log in", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const auth = {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: "bob" },
    password: "password of bob",
  };
  await bob.ok("POST", "/account/deactivate", { auth });
  assertEquals(scene.homeserver.room(room).membership("@bob:localhost"), "leave");
  assertEquals(await alice.refusal("POST", "/login", auth), [403, "M_FORBIDDEN"]);
});

Deno.test("createUser() gives a user who is logged in, with identifiers of the given generator", async () => {
  const make = async () => {
    await using homeserver = new Homeserver({ ids: sequentialIds(), serverName: "green.room" });
    const user = homeserver.createUser("alice", { displayname: "Alice" });
    const caller = new Caller(homeserver, user);
    return [user.userId, user.deviceId, user.accessToken, await caller.createRoom()];
  };
  const first = await make();
  assertEquals(first[0], "@alice:green.room");
  assertEquals(await make(), first);
});

Deno.test("GET /versions lists what the options say", async () => {
  await using homeserver = new Homeserver({ versions: ["v1.1"], unstableFeatures: { "org.example": true } });
  const response = await homeserver.fetch(`${homeserver.baseUrl}/_matrix/client/versions`);
  assertEquals(await response.json(), { versions: ["v1.1"], unstable_features: { "org.example": true } });
});

Deno.test("discovery leads from the server name to the base URL", async () => {
  await using homeserver = new Homeserver({ serverName: "green.room" });
  const response = await homeserver.fetch("https://green.room/.well-known/matrix/client");
  const { "m.homeserver": { base_url } } = await response.json();
  assertEquals(base_url, `${homeserver.baseUrl}/`);
});
