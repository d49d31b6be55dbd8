import { assertEquals } from "@std/assert";
import { type Json, stage } from "./harness.ts";

const USER = "/user/@alice:localhost";

Deno.test("profile: fields are set, read and deleted, and rooms receive name and avatar", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const member = () => scene.homeserver.room(room).state("m.room.member", "@alice:localhost");
  const path = "/profile/@alice:localhost";
  await alice.ok("PUT", `${path}/displayname`, { displayname: "Alice" });
  await alice.ok("PUT", `${path}/avatar_url`, { avatar_url: "mxc://localhost/a" });
  await alice.ok("PUT", `${path}/org.example.pronouns`, { "org.example.pronouns": ["she"] });
  assertEquals(member(), { membership: "join", displayname: "Alice", avatar_url: "mxc://localhost/a" });
  assertEquals(await bob.ok("GET", path), {
    displayname: "Alice",
    avatar_url: "mxc://localhost/a",
    "org.example.pronouns": ["she"],
  });
  await alice.ok("DELETE", `${path}/avatar_url`);
  assertEquals(member(), { membership: "join", displayname: "Alice" });
  assertEquals(await bob.ok("GET", `${path}/avatar_url`), {});
  assertEquals(await bob.refusal("GET", `${path}/org.example.none`), [404, "M_NOT_FOUND"]);
  assertEquals(await bob.refusal("GET", "/profile/@none:localhost/displayname"), [404, "M_NOT_FOUND"]);
  assertEquals(await bob.refusal("PUT", `${path}/displayname`, { displayname: "Eve" }), [400, "M_FORBIDDEN"]);
  assertEquals(await alice.refusal("PUT", `${path}/displayname`, {}), [400, "M_MISSING_PARAM"]);
});

Deno.test("account data: global and of rooms, in sync once each", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const { next_batch } = await alice.sync();
  await alice.ok("PUT", `${USER}/account_data/com.example.x`, { a: 1 });
  await alice.ok("PUT", `${USER}/rooms/${room}/account_data/com.example.y`, { b: 2 });
  const answer = await alice.sync({ since: next_batch });
  assertEquals(answer.account_data.events, [{ type: "com.example.x", content: { a: 1 } }]);
  assertEquals(answer.rooms.join[room].account_data.events, [{ type: "com.example.y", content: { b: 2 } }]);
  assertEquals(await alice.ok("GET", `${USER}/account_data/com.example.x`), { a: 1 });
  assertEquals(await alice.ok("GET", `${USER}/rooms/${room}/account_data/m.push_rules`), {});
  assertEquals((await alice.sync({ since: answer.next_batch })).account_data, undefined);
  assertEquals(await alice.refusal("GET", `${USER}/account_data/none`), [404, "M_NOT_FOUND"]);
  assertEquals(await bob.refusal("GET", `${USER}/account_data/com.example.x`), [403, "M_FORBIDDEN"]);
  for (const type of ["m.fully_read", "m.push_rules"]) {
    assertEquals(await alice.refusal("PUT", `${USER}/account_data/${type}`, {}), [405, "M_BAD_JSON"]);
  }
});

Deno.test("tags: are account data of the room", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const { next_batch } = await alice.sync();
  await alice.ok("PUT", `${USER}/rooms/${room}/tags/m.favourite`, { order: 0.5 });
  await alice.ok("PUT", `${USER}/rooms/${room}/tags/u.work`, {});
  await alice.ok("DELETE", `${USER}/rooms/${room}/tags/u.work`);
  const tags = { "m.favourite": { order: 0.5 } };
  assertEquals(await alice.ok("GET", `${USER}/rooms/${room}/tags`), { tags });
  const { events } = (await alice.sync({ since: next_batch })).rooms.join[room].account_data;
  assertEquals(events, [{ type: "m.tag", content: { tags } }]);
});

Deno.test("filters: an uploaded one keeps its ID, and a broken one is refused", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const filter = { room: { timeline: { limit: 1 } } };
  const { filter_id } = await alice.ok("POST", `${USER}/filter`, filter);
  assertEquals(await alice.ok("POST", `${USER}/filter`, filter), { filter_id });
  assertEquals(await alice.ok("GET", `${USER}/filter/${filter_id}`), filter);
  assertEquals(await alice.refusal("GET", `${USER}/filter/99`), [404, "M_NOT_FOUND"]);
  assertEquals(await alice.refusal("POST", `${USER}/filter`, { room: { state: { types: "all" } } }), [
    400,
    "M_UNKNOWN",
  ]);
  assertEquals(await alice.refusal("GET", "/sync?filter=99"), [400, "M_INVALID_PARAM"]);
  assertEquals(await alice.refusal("GET", "/sync?filter={"), [400, "M_NOT_JSON"]);
});

Deno.test("push rules: a user's own ones come first and can be placed, changed and removed", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const rules = "/pushrules/global/content";
  const ids = async () => (await alice.ok("GET", `${rules}/`)).map((rule: Json) => rule.rule_id);
  const put = (id: string, query = "") =>
    alice.send("PUT", `${rules}/${id}${query}`, { pattern: id, actions: ["notify"] });
  await put("a");
  await put("b", "?after=a");
  await put("c", "?before=a");
  assertEquals(await ids(), ["c", "a", "b", ".m.rule.contains_user_name"]);
  assertEquals((await put("d", "?before=none")).status, 400);
  assertEquals((await put(".d")).status, 400);
  await alice.ok("PUT", `${rules}/a/enabled`, { enabled: false });
  await alice.ok("PUT", `${rules}/a/actions`, { actions: [] });
  const rule = { rule_id: "a", default: false, enabled: false, actions: [], pattern: "a" };
  assertEquals(await alice.ok("GET", `${rules}/a`), rule);
  await alice.ok("DELETE", `${rules}/a`);
  assertEquals(await alice.refusal("DELETE", `${rules}/a`), [404, "M_NOT_FOUND"]);
  assertEquals(await alice.refusal("DELETE", `${rules}/.m.rule.contains_user_name`), [404, "M_NOT_FOUND"]);
});

Deno.test("push rules: a change is an account data event", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { account_data, next_batch } = await alice.sync();
  assertEquals(account_data.events[0].type, "m.push_rules");
  await alice.ok("PUT", "/pushrules/global/room/!a:b", { actions: [] });
  const { events } = (await alice.sync({ since: next_batch })).account_data;
  assertEquals(events[0].content.global.room[0].rule_id, "!a:b");
});

Deno.test("unread counts: follow the push rules and are reset by a receipt", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await carol.join(room);
  const { next_batch } = await bob.sync();
  await alice.say(room, "plain");
  await alice.sendEvent(room, "m.room.message", { msgtype: "m.notice", body: "noise" });
  await alice.say(room, "hey bob!");
  const last = await alice.sendEvent(room, "m.room.message", {
    msgtype: "m.text",
    body: "psst",
    "m.mentions": { user_ids: ["@bob:localhost"] },
  });
  const counts = async (since: string) => (await bob.sync({ since })).rooms.join[room].unread_notifications;
  assertEquals(await counts(next_batch), { notification_count: 3, highlight_count: 2 });
  const { notifications } = await bob.ok("GET", "/notifications?only=highlight");
  assertEquals(notifications.map((entry: Json) => [entry.event.content.body, entry.read]), [["psst", false], [
    "hey bob!",
    false,
  ]]);
  await bob.ok("POST", `/rooms/${room}/receipt/m.read/${last}`, {});
  assertEquals(await counts(next_batch), { notification_count: 0, highlight_count: 0 });
});

Deno.test("pushers: are set, listed and removed", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const pusher = {
    kind: "http",
    app_id: "org.example",
    pushkey: "key",
    app_display_name: "App",
    device_display_name: "Phone",
    lang: "en",
    data: { url: "https://example.org/_matrix/push/v1/notify" },
  };
  await alice.ok("POST", "/pushers/set", pusher);
  assertEquals((await alice.ok("GET", "/pushers")).pushers, [{ profile_tag: "", ...pusher }]);
  assertEquals(await alice.refusal("POST", "/pushers/set", { kind: "http", app_id: "x", pushkey: "y" }), [
    400,
    "M_MISSING_PARAM",
  ]);
  await alice.ok("POST", "/pushers/set", { kind: null, app_id: "org.example", pushkey: "key" });
  assertEquals((await alice.ok("GET", "/pushers")).pushers, []);
});
