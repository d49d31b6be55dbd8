import { assertEquals, assertNotEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

Deno.test("push rules count as they were when the event came", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { event_id } = await alice.ok("PUT", `/rooms/${room}/send/m.reaction/1`, {});
  await bob.ok("PUT", "/pushrules/global/override/.m.rule.master/actions", { actions: ["notify"] });
  await alice.sendEvent(room, "m.reaction", {});
  const { notifications } = await bob.ok("GET", "/notifications");
  assertEquals(notifications.length, 1);
  assertNotEquals(notifications[0].event.event_id, event_id);
});

Deno.test("a room with an unknown join rule lets nobody in, invited or not, nor a new name of a member", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ invite: [bob.id] });
  await alice.putState(room, "m.room.join_rules", { join_rule: "dance" });
  assertEquals(await bob.refusal("POST", `/rooms/${room}/join`), [403, "M_FORBIDDEN"]);
  await alice.ok("PUT", `/profile/${alice.id}/displayname`, { displayname: "New" });
  const { displayname } = await alice.ok("GET", `/rooms/${room}/state/m.room.member/${alice.id}`);
  assertEquals(displayname, "alice");
});

Deno.test("who reads of an event elsewhere is told first whether they may see it", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const event = await alice.say(room, "x");
  assertEquals(await alice.refusal("GET", `/rooms/!none:x/context/${event}`), [404, "M_UNKNOWN"]);
  assertEquals(await bob.refusal("GET", `/rooms/!none:x/context/${event}`), [403, "M_FORBIDDEN"]);
  const secret = await alice.createRoom({
    initial_state: [{ type: "m.room.history_visibility", content: { history_visibility: "world_readable" } }],
  });
  const relations = `/_matrix/client/v1/rooms/${secret}/relations/$none`;
  assertEquals(await bob.refusal("GET", relations), [404, "M_UNKNOWN"]);
  assertEquals(Object.keys((await bob.ok("GET", `/rooms/${secret}/joined_members`)).joined), [alice.id]);
});

Deno.test("what reacts or edits has no aggregations of its own", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const message = { msgtype: "m.text", body: "x" };
  const relate = (rel_type: string, event_id: string) =>
    alice.sendEvent(room, "m.room.message", {
      ...message,
      "m.new_content": message,
      "m.relates_to": { rel_type, event_id, key: "+" },
    });
  const reaction = await relate("m.annotation", await alice.say(room, "root"));
  await relate("m.replace", reaction);
  const { unsigned } = await alice.ok("GET", `/rooms/${room}/event/${reaction}`);
  assertEquals(unsigned["m.relations"], undefined);
});

Deno.test("receipts and typing of ignored users are shown, and typing that has ended at first too", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const event = await alice.say(room, "x");
  const content = { ignored_users: { [bob.id]: {} } };
  await alice.ok("PUT", `/user/${alice.id}/account_data/m.ignored_user_list`, content);
  await bob.ok("POST", `/rooms/${room}/receipt/m.read/${event}`, {});
  await bob.ok("PUT", `/rooms/${room}/typing/${bob.id}`, { typing: true, timeout: 0 });
  const { events } = (await alice.sync()).rooms.join[room].ephemeral;
  assertEquals(events.map(({ type }: Json) => type), ["m.receipt", "m.typing"]);
  assertEquals(events[1].content, { user_ids: [] });
});

Deno.test("lazily loaded state has the latest event, whoever it is about", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ name: "Named", invite: ["@bob:localhost", "@carol:localhost"] });
  const filter = { room: { timeline: { types: ["none"] }, state: { lazy_load_members: true } } };
  const { events } = (await alice.sync({ filter })).rooms.join[room].state;
  const members = events.filter(({ type }: Json) => type === "m.room.member");
  assertEquals(members.map(({ state_key }: Json) => state_key), [alice.id, "@carol:localhost"]);
});

Deno.test("a room is upgraded to version 12 only while someone is there", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await alice.ok("POST", `/rooms/${room}/leave`);
  const upgrade = (new_version: string) => alice.refusal("POST", `/rooms/${room}/upgrade`, { new_version });
  assertEquals(await upgrade("12"), [404, "M_NOT_FOUND"]);
  assertEquals(await upgrade("11"), [403, "M_FORBIDDEN"]);
});
