import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { type Json, stage } from "./harness.ts";

const MESSAGE = { msgtype: "m.text", body: "Hello" };

Deno.test("faults: a status fault answers in place of the homeserver, as often as asked", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { faults } = scene.homeserver;
  const fault = faults.add({
    kind: "status",
    status: 429,
    body: { errcode: "M_LIMIT_EXCEEDED", error: "slow down", retry_after_ms: 2000 },
    headers: { "retry-after": "2" },
    match: { method: "GET", path: "/account/whoami" },
    times: 2,
    skip: 1,
  });
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await alice.send("GET", "/account/whoami")).status);
  assertEquals(statuses, [200, 429, 429, 200]);
  assertEquals(fault.hits, 2);
});

Deno.test("faults: a match looks at method, path and user", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  scene.homeserver.faults.add({
    kind: "status",
    status: 503,
    match: { method: "GET", path: /whoami$/, user: "@bob:localhost" },
  });
  assertEquals((await alice.send("GET", "/account/whoami")).status, 200);
  assertEquals((await bob.send("GET", "/account/whoami")).status, 503);
  assertEquals((await bob.send("GET", "/joined_rooms")).status, 200);
});

Deno.test("faults: a dropped connection rejects, with drop-after once the request has taken effect", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const send = () => alice.send("PUT", `/rooms/${room}/send/m.room.message/one`, MESSAGE);
  scene.homeserver.faults.add({ kind: "drop", match: { path: "/send/" }, times: 1 });
  await assertRejects(send, TypeError);
  assertEquals(scene.homeserver.room(room).messages.length, 0);
  scene.homeserver.faults.add({ kind: "drop-after", match: { path: "/send/" }, times: 1 });
  await assertRejects(send, TypeError);
  assertEquals(scene.homeserver.room(room).messages.length, 1);
  const { event_id } = (await send()).body;
  assertEquals(scene.homeserver.room(room).messages.map((event) => event.event_id), [event_id]);
});

Deno.test("faults: a duplicated request takes effect twice, and the transaction ID makes it one", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  scene.homeserver.faults.add({ kind: "duplicate", match: { method: "POST", path: "/createRoom" } });
  scene.homeserver.faults.add({ kind: "duplicate", match: { path: "/send/" } });
  const room = await alice.createRoom();
  assertEquals(scene.homeserver.rooms.length, 2);
  await alice.say(room, "once");
  assertEquals(scene.homeserver.room(room).messages.length, 1);
});

Deno.test("faults: a delay goes by the homeserver's clock", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  scene.homeserver.faults.add({ kind: "delay", ms: 5000 });
  let answered = false;
  const answer = alice.send("GET", "/account/whoami").then(() => answered = true);
  await scene.clock.tick(4999);
  assertFalse(answered);
  await scene.clock.tick(1);
  assert(await answer);
});

Deno.test("faults: a held request waits for its release, and an abort frees the client", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const fault = scene.homeserver.faults.add({ kind: "hold", match: { path: "/whoami" } });
  const first = alice.send("GET", "/account/whoami");
  const controller = new AbortController();
  const second = alice.send("GET", "/account/whoami", undefined, { signal: controller.signal });
  await scene.clock.tick();
  controller.abort(new DOMException("gone", "AbortError"));
  await assertRejects(() => second, DOMException, "gone");
  fault.release();
  assertEquals((await first).status, 200);
  const third = alice.send("GET", "/account/whoami");
  fault.remove();
  assertEquals((await third).status, 200);
});

Deno.test("faults: hold-after withholds the answer of a request that took effect", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  using fault = scene.homeserver.faults.add({ kind: "hold-after", match: { path: "/send/" } });
  const hit = fault.hit();
  const sent = alice.say(room, "there already");
  await hit;
  await scene.clock.tick();
  assertEquals(scene.homeserver.room(room).messages.length, 1);
  fault.release();
  await sent;
});

Deno.test("faults: a truncated body breaks off, or ends too soon", async () => {
  await using scene = stage(["alice"]);
  const { baseUrl, fetch, faults } = scene.homeserver;
  faults.add({ kind: "truncate", times: 1 });
  const broken = await fetch(`${baseUrl}/_matrix/client/versions`);
  await assertRejects(() => broken.text(), TypeError);
  faults.add({ kind: "truncate", bytes: 4, clean: true });
  const short = await fetch(`${baseUrl}/_matrix/client/versions`);
  assertEquals(await short.text(), '{"ve');
});

Deno.test("faults: HTML from a proxy, wrong JSON and redirects", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { baseUrl, fetch, faults } = scene.homeserver;
  const versions = `${baseUrl}/_matrix/client/versions`;
  faults.add({ kind: "html", times: 1 });
  const html = await fetch(versions);
  assertEquals([html.status, html.headers.get("content-type")], [502, "text/html"]);
  assert((await html.text()).includes("Bad Gateway"));
  faults.add({ kind: "body", body: { event_id: 7 }, times: 1 });
  assertEquals((await alice.send("PUT", "/nowhere", {})).body, { event_id: 7 });
  faults.add({ kind: "redirect", location: "/_matrix/client/v3/login", times: 1 });
  const redirected = await fetch(versions);
  assertEquals([redirected.redirected, redirected.url], [true, `${baseUrl}/_matrix/client/v3/login`]);
  assert(Array.isArray((await redirected.json()).flows));
  faults.add({ kind: "redirect", location: "/_matrix/client/versions" });
  await assertRejects(() => fetch(versions), TypeError, "too many redirects");
});

Deno.test("faults: clear() takes all of them away", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  scene.homeserver.faults.add({ kind: "drop" });
  scene.homeserver.faults.add({ kind: "status", status: 500 });
  scene.homeserver.faults.clear();
  assertEquals((await alice.send("GET", "/account/whoami")).status, 200);
});

Deno.test("rateLimits: what comes too fast is refused, with how long to wait", async () => {
  await using scene = stage(["alice"], { rateLimits: { messages: { perSecond: 1, burst: 2 } } });
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const send = (id: string): Promise<Json> =>
    alice.send("PUT", `/rooms/${room}/send/m.room.message/${id}`, MESSAGE);
  assertEquals((await send("a")).status, 200);
  assertEquals((await send("b")).status, 200);
  const refused = await send("c");
  assertEquals([refused.status, refused.body.errcode], [429, "M_LIMIT_EXCEEDED"]);
  assertEquals([refused.body.retry_after_ms, refused.headers.get("retry-after")], [1000, "1"]);
  await scene.clock.tick(1000);
  assertEquals((await send("c")).status, 200);
});

Deno.test("rateLimits: each kind of request, and each user, has its own", async () => {
  const once = { perSecond: 0.1, burst: 1 };
  const rateLimits = { messages: once, joins: once, invites: once };
  await using scene = stage(["alice", "bob", "carol"], { rateLimits });
  const { alice, bob, carol } = scene.users;
  const [one, two] = [await alice.createRoom(), await alice.createRoom()];
  const invite = async (room: string, who: { readonly id: string }): Promise<number> =>
    (await alice.send("POST", `/rooms/${room}/invite`, { user_id: who.id })).status;
  const join = async (room: string): Promise<number> =>
    (await bob.send("POST", `/join/${encodeURIComponent(room)}`, {})).status;
  assertEquals([await invite(one, bob), await invite(two, carol)], [200, 429]);
  assertEquals((await alice.send("PUT", `/rooms/${one}/send/m.room.message/a`, MESSAGE)).status, 200);
  scene.homeserver.rateLimits.invites = undefined;
  assertEquals(await invite(two, bob), 200);
  assertEquals([await join(one), await join(one), await join(two)], [200, 200, 429]);
  await scene.clock.tick(10_000);
  assertEquals(await join(two), 200);
  scene.homeserver.rateLimits.rooms = once;
  await alice.createRoom();
  assertEquals((await alice.send("POST", "/createRoom", {})).status, 429);
});
