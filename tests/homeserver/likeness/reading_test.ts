import { assertEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

Deno.test("search looks into messages, names and topics, and counts what a filter leaves out", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ topic: "the play" });
  await alice.say(room, "a play");
  await alice.sendEvent(room, "org.example", { body: "play" });
  const search = async (more: Json) => {
    const search_categories = { room_events: { search_term: "play", ...more } };
    const { room_events } = (await alice.ok("POST", "/search", { search_categories })).search_categories;
    return [room_events.count, room_events.results.length];
  };
  assertEquals(await search({}), [2, 2]);
  assertEquals(await search({ keys: ["content.topic"] }), [1, 1]);
  assertEquals(await search({ filter: { types: ["m.room.topic"] } }), [2, 1]);
  const unknown = { search_categories: { room_events: { search_term: "x", filter: { rooms: ["!none"] } } } };
  assertEquals(await alice.refusal("POST", "/search", unknown), [404, "M_NOT_FOUND"]);
});

Deno.test("a redacted event no longer counts as unread", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const event = await alice.say(room, "one");
  await alice.say(room, "two");
  const count = async () => (await bob.sync()).rooms.join[room].unread_notifications.notification_count;
  assertEquals(await count(), 2);
  await alice.ok("PUT", `/rooms/${room}/redact/${event}/1`, {});
  assertEquals(await count(), 1);
});

Deno.test("nobody is notified of what they may not see", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const content = { history_visibility: "joined" };
  const initial_state = [{ type: "m.room.history_visibility", content }];
  await alice.createRoom({ initial_state, invite: [bob.id] });
  assertEquals((await bob.ok("GET", "/notifications")).notifications, []);
});

Deno.test("push rules: a predefined rule with actions of its own is on, and an own one stays off", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const master = "/pushrules/global/override/.m.rule.master";
  await alice.ok("PUT", `${master}/actions`, { actions: [] });
  assertEquals(await alice.ok("GET", `${master}/enabled`), { enabled: true });
  await alice.ok("PUT", `${master}/enabled`, { enabled: false });
  await alice.ok("PUT", `${master}/actions`, { actions: ["notify"] });
  assertEquals(await alice.ok("GET", `${master}/enabled`), { enabled: false });
  const own = "/pushrules/global/room/!x:y";
  await alice.ok("PUT", own, { actions: [] });
  await alice.ok("PUT", `${own}/enabled`, { enabled: false });
  await alice.ok("PUT", own, { actions: ["notify"] });
  assertEquals(await alice.ok("GET", `${own}/enabled`), { enabled: false });
});

Deno.test("the events of threads have no transaction IDs, and a redacted redaction is still shown", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ room_version: "10" });
  const event_id = await alice.say(room, "root");
  const content = { msgtype: "m.text", body: "reply", "m.relates_to": { rel_type: "m.thread", event_id } };
  await alice.sendEvent(room, "m.room.message", content);
  const { chunk: [root] } = await alice.ok("GET", `/_matrix/client/v1/rooms/${room}/threads`);
  assertEquals(root.unsigned.transaction_id, undefined);
  const first = await alice.ok("PUT", `/rooms/${room}/redact/${event_id}/a`, {});
  await alice.ok("PUT", `/rooms/${room}/redact/${first.event_id}/b`, {});
  const shown = await alice.ok("GET", `/rooms/${room}/event/${first.event_id}`);
  assertEquals([shown.type, shown.content, shown.redacts], ["m.room.redaction", {}, undefined]);
});

Deno.test("GET /messages takes any names in a filter, and has no end if it ends where it starts", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const filter = encodeURIComponent(JSON.stringify({ senders: ["x"] }));
  assertEquals((await alice.ok("GET", `/rooms/${room}/messages?dir=b&to=&filter=${filter}`)).chunk, []);
  const { next_batch } = await alice.sync();
  const { end } = await alice.ok("GET", `/rooms/${room}/messages?dir=b&limit=0&to=${next_batch}`);
  assertEquals(end, undefined);
  const own = encodeURIComponent(JSON.stringify({ rooms: [room] }));
  const { chunk } = await alice.ok("GET", `/rooms/${room}/messages?dir=f&limit=2&filter=${own}`);
  assertEquals(chunk.map(({ type }: Json) => type), ["m.room.member"]); // a create event has no room yet
});

Deno.test("rooms are listed while anyone is there and others may come in or read", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", visibility: "public" });
  const listed = async () => (await alice.ok("POST", "/publicRooms", {})).chunk.length;
  assertEquals(await listed(), 1);
  await alice.putState(room, "m.room.join_rules", { join_rule: "invite" });
  assertEquals(await listed(), 0);
  await alice.putState(room, "m.room.history_visibility", { history_visibility: "world_readable" });
  assertEquals(await listed(), 1);
  await alice.ok("POST", `/rooms/${room}/leave`);
  assertEquals(await listed(), 0);
});

Deno.test("device lists name who changed while in the room, also if they have left with it", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await alice.sync();
  const identifier = { type: "m.id.user", user: bob.id };
  const auth = { type: "m.login.password", identifier, password: "password of bob" };
  await bob.ok("POST", "/account/deactivate", { auth });
  assertEquals((await alice.sync({ since: next_batch })).device_lists, { changed: [bob.id], left: [bob.id] });
});

Deno.test("search: wrong limits of the context are refused even if nothing is found", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room_events = { search_term: "nothing", event_context: { after_limit: "many" } };
  const body = { search_categories: { room_events } };
  assertEquals(await alice.refusal("POST", "/search", body), [400, "M_INVALID_PARAM"]);
});
