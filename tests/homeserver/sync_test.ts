import { assert, assertEquals, assertFalse, assertNotEquals } from "@std/assert";
import { bodies, type Json, stage } from "./harness.ts";

Deno.test("GET /sync returns the whole room at first and then only what is new", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", name: "Green room" });
  await bob.join(room);
  const first = await bob.sync();
  assertFalse(first.rooms.join[room].timeline.limited);
  await alice.say(room, "one");
  await alice.say(room, "two");
  const second = await bob.sync({ since: first.next_batch });
  assertEquals(bodies(second.rooms.join[room].timeline.events), ["one", "two"]);
  assertEquals(second.rooms.join[room].state.events, []);
  const third = await bob.sync({ since: second.next_batch });
  assertEquals(third.rooms, undefined);
});

Deno.test("GET /sync waits for news until its timeout", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await alice.sync();
  const { next_batch } = await bob.sync();
  const waiting = bob.sync({ since: next_batch, timeout: 30_000 });
  await scene.clock.tick(10_000);
  await alice.say(room, "news");
  const answer = await waiting;
  assertEquals(bodies(answer.rooms.join[room].timeline.events), ["news"]);
  const idle = bob.sync({ since: answer.next_batch, timeout: 30_000 });
  await scene.clock.tick(30_000);
  assertEquals((await idle).rooms, undefined);
  assertEquals(scene.clock.pending, 0);
});

Deno.test("GET /sync marks a timeline that leaves events out as limited, and gives the state before it", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await bob.sync();
  await alice.putState(room, "m.room.topic", { topic: "gap" });
  for (let i = 0; i < 12; i++) await alice.say(room, String(i));
  const answer = await bob.sync({ since: next_batch });
  const { timeline, state } = answer.rooms.join[room];
  assert(timeline.limited);
  assertEquals(bodies(timeline.events), ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11"]);
  assertEquals(state.events.map((event: { type: string }) => event.type), ["m.room.topic"]);
  assertNotEquals(timeline.prev_batch, next_batch);
});

Deno.test("GET /sync is aborted by the client's signal", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { next_batch } = await alice.sync();
  const controller = new AbortController();
  const waiting = alice.send("GET", `/sync?since=${next_batch}&timeout=30000`, undefined, {
    signal: controller.signal,
  });
  await scene.clock.tick();
  controller.abort(new Error("enough"));
  const outcome = await waiting.catch((error) => error);
  assert(outcome instanceof Error && outcome.message === "enough");
});

const names = (events: readonly Json[]): string[] =>
  events.map(({ type, state_key }) =>
    state_key === undefined || state_key === "" ? type : `${type} ${state_key}`
  ).sort();

Deno.test("GET /sync invites with the stripped state of the room, and reports the end of the invitation", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const { next_batch } = await bob.sync();
  const room = await alice.createRoom({ name: "Secret", invite: ["@bob:localhost"] });
  const invited = await bob.sync({ since: next_batch });
  const { events } = invited.rooms.invite[room].invite_state;
  assertEquals(names(events), [
    "m.room.create",
    "m.room.join_rules",
    "m.room.member @alice:localhost",
    "m.room.member @bob:localhost",
    "m.room.name",
  ]);
  assertEquals(Object.keys(events[0]).sort(), ["content", "sender", "state_key", "type"]);
  await bob.ok("POST", `/rooms/${room}/leave`, {});
  const rejected = await bob.sync({ since: invited.next_batch });
  assertEquals(names(rejected.rooms.leave[room].timeline.events), ["m.room.member @bob:localhost"]);
  assertEquals(rejected.rooms.leave[room].state.events, []);
});

Deno.test("GET /sync returns a room that was left up to the leaving, and in an initial sync only if asked", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await bob.sync();
  await alice.say(room, "before");
  await bob.ok("POST", `/rooms/${room}/leave`, {});
  await alice.say(room, "after");
  const { leave } = (await bob.sync({ since: next_batch })).rooms;
  assertEquals(names(leave[room].timeline.events), ["m.room.member @bob:localhost", "m.room.message"]);
  assertEquals((await bob.sync()).rooms, undefined);
  const asked = await bob.sync({ filter: { room: { include_leave: true } } });
  assertEquals(bodies(asked.rooms.leave[room].timeline.events), ["before"]);
});

Deno.test("GET /sync returns the whole room again to a user who has come back", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", name: "Here" });
  await bob.join(room);
  const { next_batch } = await bob.sync();
  await bob.ok("POST", `/rooms/${room}/leave`, {});
  await alice.say(room, "missed");
  await bob.join(room);
  const { timeline, state } =
    (await bob.sync({ since: next_batch, filter: { room: { timeline: { limit: 2 } } } })).rooms.join[room];
  assert(timeline.limited);
  assertEquals(bodies(timeline.events), ["missed"]);
  assert(names(state.events).includes("m.room.name"));
});

Deno.test("GET /sync shows a room to a user who knocks", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const initial_state = [{ type: "m.room.join_rules", content: { join_rule: "knock" } }];
  const room = await alice.createRoom({ initial_state, name: "Door" });
  const [a, b] = [await alice.sync(), await bob.sync()];
  await bob.ok("POST", `/knock/${room}`, {});
  const { knock } = (await bob.sync({ since: b.next_batch })).rooms;
  assertEquals(names(knock[room].knock_state.events), [
    "m.room.create",
    "m.room.join_rules",
    "m.room.member @bob:localhost",
    "m.room.name",
  ]);
  const seen = (await alice.sync({ since: a.next_batch })).rooms.join[room].timeline.events;
  assertEquals(seen[0].content.membership, "knock");
});

Deno.test("GET /sync loads members lazily, once each unless asked for more, and again if the answer was lost", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await carol.join(room);
  await bob.say(room, "one");
  const filter = { room: { timeline: { limit: 1 }, state: { lazy_load_members: true } } };
  const members = ({ rooms }: Json) =>
    names(rooms.join[room].state.events).filter((name) => name.startsWith("m.room.member ")).map((name) =>
      name.slice(15)
    );
  const first = await alice.sync({ filter });
  assertEquals(members(first), ["alice:localhost", "bob:localhost", "carol:localhost"]);
  assertEquals(first.rooms.join[room].summary, {
    "m.joined_member_count": 3,
    "m.invited_member_count": 0,
    "m.heroes": ["@bob:localhost", "@carol:localhost"],
  });
  await bob.say(room, "two");
  const second = await alice.sync({ filter, since: first.next_batch });
  assertEquals([members(second), second.rooms.join[room].summary], [[], {}]);
  const redundant = { room: { state: { lazy_load_members: true, include_redundant_members: true } } };
  assertEquals(members(await alice.sync({ filter: redundant, since: first.next_batch })), ["bob:localhost"]);
  await using other = stage(["alice", "bob"]);
  const quiet = await other.users.alice.createRoom({ preset: "public_chat", name: "Named" });
  await other.users.bob.join(quiet);
  await other.users.alice.say(quiet, "x");
  const start = await other.users.alice.sync({ filter });
  await other.users.bob.say(quiet, "y");
  for (let attempt = 0; attempt < 2; attempt++) {
    const { rooms } = await other.users.alice.sync({ filter, since: start.next_batch });
    assertEquals(names(rooms.join[quiet].state.events), ["m.room.member @bob:localhost"]);
  }
});

Deno.test("GET /sync filters rooms, types, senders and fields", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const version = { room_version: "11" };
  const [one, two] = [
    await alice.createRoom({ preset: "public_chat", ...version }),
    await alice.createRoom(version),
  ];
  await bob.join(one);
  await bob.say(one, "bob");
  await alice.say(one, "alice");
  const sync = async (filter: Json) => (await alice.sync({ filter })).rooms;
  assertEquals(Object.keys((await sync({ room: { rooms: [two] } })).join), [two]);
  assertEquals(Object.keys((await sync({ room: { not_rooms: [two] } })).join), [one]);
  const timeline = { types: ["m.room.message"], not_senders: ["@bob:localhost"] };
  assertEquals(bodies((await sync({ room: { timeline } })).join[one].timeline.events), ["alice"]);
  const fields = await sync({
    event_fields: ["content.body"],
    room: { timeline: { limit: 1 }, state: { types: [] } },
  });
  assertEquals(fields.join[one].timeline.events, [{ content: { body: "alice" } }]);
  assertEquals(fields.join[one].state.events, []);
});

Deno.test("GET /sync gives full state on request, and state after the timeline where the version has it", async () => {
  await using scene = stage(["alice"], { versions: ["v1.16"] });
  const { alice } = scene.users;
  const room = await alice.createRoom({ name: "Before" });
  const { next_batch } = await alice.sync();
  assertEquals(
    names((await alice.sync({ since: next_batch, full_state: true })).rooms.join[room].state.events).length,
    7,
  );
  await alice.putState(room, "m.room.name", { name: "After" });
  const { state, state_after } =
    (await alice.sync({ since: next_batch, use_state_after: true })).rooms.join[room];
  assertEquals(state, undefined);
  assertEquals(state_after.events.map(({ content }: Json) => content), [{ name: "After" }]);
});

Deno.test("GET /sync bundles aggregations where events are missing, and hides whom the user ignores", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await alice.ok("PUT", "/user/@alice:localhost/account_data/m.ignored_user_list", {
    ignored_users: { "@bob:localhost": {} },
  });
  const { next_batch } = await alice.sync();
  await bob.say(room, "unheard");
  assertEquals((await alice.sync({ since: next_batch })).rooms, undefined);
  await alice.say(room, "first");
  const event_id = await alice.say(room, "typo");
  const content = { msgtype: "m.text", body: "* text", "m.relates_to": { rel_type: "m.replace", event_id } };
  const edit = await alice.sendEvent(room, "m.room.message", content);
  const relations = async (limit: number) => {
    const { rooms } = await alice.sync({ since: next_batch, filter: { room: { timeline: { limit } } } });
    const { events } = rooms.join[room].timeline;
    return events.find((event: Json) => event.event_id === event_id).unsigned["m.relations"]?.["m.replace"]
      .event_id;
  };
  assertEquals([await relations(10), await relations(2)], [undefined, edit]);
});

Deno.test("GET /sync refuses malformed parameters", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  assertEquals(await alice.refusal("GET", "/sync?since=nonsense"), [400, "M_UNKNOWN"]);
  assertEquals(await alice.refusal("GET", "/sync?timeout=soon"), [400, "M_INVALID_PARAM"]);
  assertEquals(await alice.refusal("GET", "/sync?set_presence=asleep"), [400, "M_INVALID_PARAM"]);
  assertEquals(await alice.refusal("GET", "/sync?full_state=yes"), [400, "M_INVALID_PARAM"]);
});

Deno.test("GET /sync is woken by membership, account data, to-device messages and device lists", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  await alice.sync();
  let since = (await bob.sync()).next_batch;
  const wakes = async (action: () => Promise<unknown>) => {
    const waiting = bob.sync({ since, timeout: 30_000 });
    await scene.clock.tick();
    await action();
    const answer = await waiting;
    since = answer.next_batch;
    return Object.keys(answer).filter((section) =>
      !section.startsWith("device_") || section === "device_lists"
    ).slice(1);
  };
  const messages = { "@bob:localhost": { "*": {} } };
  assertEquals(await wakes(() => alice.ok("PUT", "/sendToDevice/x/1", { messages })), ["to_device"]);
  assertEquals(await wakes(() => alice.ok("PUT", `/devices/${alice.deviceId}`, { display_name: "x" })), [
    "device_lists",
  ]);
  assertEquals(await wakes(() => bob.ok("PUT", "/user/@bob:localhost/account_data/x", { x: 1 })), [
    "account_data",
  ]);
  assertEquals(await wakes(() => alice.createRoom({ invite: ["@bob:localhost"] })), ["rooms"]);
  assertEquals(scene.clock.pending, 0);
});

Deno.test("sync: events have a whole number of milliseconds, whatever the clock has", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await scene.clock.tick(1.5);
  await alice.say(room, "hello");
  const { rooms } = await alice.sync();
  const { origin_server_ts: sentAt } = rooms.join[room].timeline.events.at(-1);
  assertEquals(sentAt, scene.clock.now() - 0.5);
});
