import { assertEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

/** A homeserver that has state after timelines as a proposal. */
const STATE_AFTER = { unstableFeatures: { "org.matrix.msc4222": true } };

Deno.test("an invite shows the room as it was then", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ name: "Then", invite: [bob.id] });
  await alice.putState(room, "m.room.name", { name: "Now" });
  const { invite_state } = (await bob.sync()).rooms.invite[room];
  const name = invite_state.events.find(({ type }: Json) => type === "m.room.name");
  assertEquals(name.content, { name: "Then" });
});

Deno.test("with who has come comes their presence, and their devices count as changed", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  const { next_batch } = await alice.sync({ set_presence: "offline" });
  await bob.join(room);
  const { presence, device_lists } = await alice.sync({ since: next_batch, set_presence: "offline" });
  assertEquals(presence.events, [{ type: "m.presence", sender: bob.id, content: { presence: "offline" } }]);
  assertEquals(device_lists.changed, [bob.id]);
});

Deno.test("each member event counts as a change of devices, a new name too", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await alice.sync();
  await bob.ok("PUT", `/profile/${bob.id}/displayname`, { displayname: "Robert" });
  assertEquals((await alice.sync({ since: next_batch })).device_lists.changed, [bob.id]);
});

Deno.test("a filter of rooms lets a create event pass that gives its room the ID", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const [current, old] = [await alice.createRoom(), await alice.createRoom({ room_version: "11" })];
  const { join } = (await alice.sync({ filter: { room: { not_rooms: [current, old] } } })).rooms;
  assertEquals(Object.keys(join), [current]);
  assertEquals(join[current].timeline.events.map(({ type }: Json) => type), ["m.room.create"]);
});

Deno.test("state after the timeline has the name of the experiment where that is asked for", async () => {
  await using scene = stage(["alice"], STATE_AFTER);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const joined = (await alice.sync({ "org.matrix.msc4222.use_state_after": true })).rooms.join[room];
  assertEquals([joined.state, joined["org.matrix.msc4222.state_after"].events.length], [undefined, 6]);
});

Deno.test("GET /sync knows no from", async () => {
  await using scene = stage(["alice"]);
  assertEquals(await scene.users.alice.refusal("GET", "/sync?from=s1"), [400, "M_UNKNOWN"]);
});

Deno.test("who was thrown out and invited again since the last sync is shown both", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await bob.sync();
  await alice.ok("POST", `/rooms/${room}/kick`, { user_id: bob.id });
  await alice.ok("POST", `/rooms/${room}/invite`, { user_id: bob.id });
  const { leave, invite, join } = (await bob.sync({ since: next_batch })).rooms;
  assertEquals(Object.keys(leave), [room]);
  assertEquals(Object.keys(invite), [room]);
  assertEquals(join, undefined);
});

Deno.test("state in force is shown in timelines, whoever may read the history", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const content = { history_visibility: "joined" };
  const initial_state = [{ type: "m.room.history_visibility", content }];
  const room = await alice.createRoom({ preset: "public_chat", initial_state });
  await alice.say(room, "before");
  await bob.join(room);
  const { events } = (await bob.sync()).rooms.join[room].timeline;
  assertEquals(events.map(({ type }: Json) => type), [
    "m.room.create",
    "m.room.member",
    "m.room.power_levels",
    "m.room.join_rules",
    "m.room.history_visibility",
    "m.room.member",
  ]);
});

Deno.test("full state has what has changed within a filtered timeline", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await alice.say(room, "hello");
  await alice.putState(room, "m.room.name", { name: "New" });
  const filter = { room: { timeline: { types: ["m.room.message"] } } };
  const { state } = (await alice.sync({ filter })).rooms.join[room];
  assertEquals(state.events.at(-1).content, { name: "New" });
});

Deno.test("a room that was joined anew comes with its tags, and no other account data of before", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const of = `/user/${bob.id}/rooms/${room}`;
  await bob.ok("PUT", `${of}/tags/u.mine`, {});
  await bob.ok("PUT", `${of}/account_data/m.tag`, { tags: { "u.other": {} } }); // no way to set tags
  const { next_batch } = await bob.sync();
  await bob.ok("POST", `/rooms/${room}/leave`);
  await bob.join(room);
  const { account_data } = (await bob.sync({ since: next_batch })).rooms.join[room];
  assertEquals(account_data.events, [{ type: "m.tag", content: { tags: { "u.mine": {} } } }]);
});

Deno.test("the last one to leave is not told of that as of state", async () => {
  await using scene = stage(["alice"], STATE_AFTER);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const { next_batch: since } = await alice.sync();
  await alice.putState(room, "m.room.topic", { topic: "Farewell" });
  await alice.ok("POST", `/rooms/${room}/leave`);
  const { rooms } = await alice.sync({ since, "org.matrix.msc4222.use_state_after": true });
  const state: Json[] = rooms.leave[room]["org.matrix.msc4222.state_after"].events;
  assertEquals(state.map(({ type }) => type), ["m.room.topic"]);
});

Deno.test("a filter's fields are those of edits too, which it does not leave out", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const text = { msgtype: "m.text", body: "a" };
  const { event_id } = await alice.ok("PUT", `/rooms/${room}/send/m.room.message/1`, text);
  const edit = { ...text, body: "b", "m.relates_to": { rel_type: "m.replace", event_id } };
  await alice.ok("PUT", `/rooms/${room}/send/m.room.message/2`, edit);
  const filter = JSON.stringify({ event_fields: ["content.body"], room: { timeline: { limit: 2 } } });
  const { timeline } = (await alice.sync({ filter })).rooms.join[room];
  assertEquals(timeline.events[0], {
    content: { body: "a" },
    unsigned: { "m.relations": { "m.replace": { content: { body: "b" } } } },
  });
});
