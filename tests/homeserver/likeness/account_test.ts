import { assertEquals, assertFalse } from "@std/assert";
import { type Json, stage } from "../harness.ts";

Deno.test("empty account data is account data that is there", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const path = `/user/${alice.id}/account_data/org.example`;
  const { next_batch } = await alice.sync();
  const emptied = [{ type: "org.example", content: {} }];
  await alice.ok("PUT", path, {});
  assertEquals((await alice.sync({ since: next_batch })).account_data.events, emptied);
  await alice.ok("PUT", path, { x: 1 });
  await alice.ok("PUT", path, {});
  assertEquals(await alice.ok("GET", path), {});
  const types = (await alice.sync()).account_data.events.map(({ type }: Json) => type);
  assertEquals(types, ["m.push_rules", "org.example"]);
  assertEquals((await alice.sync({ since: next_batch })).account_data.events, emptied);
});

Deno.test("nobody ignores themselves, and the names of devices and tags have limits", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const ignored = `/user/${alice.id}/account_data/m.ignored_user_list`;
  assertEquals(await alice.refusal("PUT", ignored, { ignored_users: { [alice.id]: {} } }), [
    400,
    "M_INVALID_PARAM",
  ]);
  assertEquals(await alice.refusal("PUT", `/devices/${alice.deviceId}`, { display_name: "n".repeat(101) }), [
    400,
    "M_TOO_LARGE",
  ]);
  assertEquals(await alice.refusal("PUT", `/user/${alice.id}/rooms/${room}/tags/${"t".repeat(256)}`, {}), [
    400,
    "M_INVALID_PARAM",
  ]);
});

Deno.test("what users ignore they don't get to see, anywhere", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const event = await bob.say(room, "hello");
  const content = { ignored_users: { [bob.id]: {} } };
  await alice.ok("PUT", `/user/${alice.id}/account_data/m.ignored_user_list`, content);
  assertEquals(await alice.refusal("GET", `/rooms/${room}/event/${event}`), [404, "M_NOT_FOUND"]);
  const { chunk } = await alice.ok("GET", `/rooms/${room}/messages?dir=b`);
  assertFalse(chunk.some(({ event_id }: Json) => event_id === event));
});

Deno.test("profiles are open to all but to those with a token that does not work", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  alice.token = "wrong";
  assertEquals(await alice.refusal("GET", `/profile/${alice.id}`), [401, "M_UNKNOWN_TOKEN"]);
});

Deno.test("backups: only one that is there is deleted, and each deletion of keys counts", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  assertEquals(await alice.refusal("DELETE", "/room_keys/version/1"), [404, "M_NOT_FOUND"]);
  const { version } = await alice.ok("POST", "/room_keys/version", { algorithm: "x", auth_data: {} });
  const { etag } = await alice.ok("DELETE", `/room_keys/keys?version=${version}`);
  assertEquals(etag, "1");
});

Deno.test("notifications name the last one as the next token, and invites are among them", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  await alice.createRoom({ invite: [bob.id] });
  const { notifications, next_token } = await bob.ok("GET", "/notifications");
  assertEquals(notifications.map(({ event }: Json) => [event.type, event.room_id]), [
    ["m.room.member", undefined],
  ]);
  const rest = await bob.ok("GET", `/notifications?from=${next_token}`);
  assertEquals([rest.notifications, rest.next_token], [[], null]);
  assertEquals(await bob.refusal("GET", "/notifications?from=x"), [400, "M_UNKNOWN"]);
});

Deno.test("search: no rooms, no words that were found; and only known orders and groups", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const search = (room_events: Json) => alice.send("POST", "/search", { search_categories: { room_events } });
  const empty = { results: [], count: 0, highlights: [] };
  assertEquals((await search({ search_term: "play" })).body.search_categories.room_events, empty);
  assertEquals((await search({ search_term: "play", order_by: "x" })).status, 400);
  assertEquals((await search({ search_term: "play", groupings: { group_by: [{ key: "x" }] } })).status, 400);
  assertEquals((await alice.send("POST", "/search", { search_categories: {} })).status, 400);
});

Deno.test("an event has notified those whom it would have then, whatever holds now", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await bob.say(room, "@room look");
  await alice.putState(room, "m.room.power_levels", { users_default: 50 });
  const { unread_notifications } = (await alice.sync()).rooms.join[room];
  assertEquals(unread_notifications, { notification_count: 1, highlight_count: 0 });
});

Deno.test("a login has where to find the homeserver, and reports need a reason", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { well_known } = await alice.ok("POST", "/login", {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: "alice" },
    password: "password of alice",
  });
  assertEquals(well_known, { "m.homeserver": { base_url: `${scene.homeserver.baseUrl}/` } });
  assertEquals(await alice.refusal("POST", `/users/${alice.id}/report`, {}), [400, "M_MISSING_PARAM"]);
});
