import { assertEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

Deno.test("a room that all have left can't be reached, and its invites can be declined", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", invite: [bob.id] });
  await alice.ok("POST", `/rooms/${room}/leave`);
  const unreachable = [404, "M_UNKNOWN"];
  assertEquals(await carol.refusal("POST", `/join/${room}`), unreachable);
  assertEquals(await bob.refusal("POST", `/rooms/${room}/join`), unreachable);
  assertEquals(await carol.refusal("POST", `/rooms/${room}/leave`), unreachable);
  await bob.ok("POST", `/rooms/${room}/leave`);
});

Deno.test("createRoom: what is refused late leaves a room with its creator, and its alias", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const initial_state = [{ type: "m.room.power_levels", content: { ban: "no" } }];
  assertEquals(await alice.refusal("POST", "/createRoom", { initial_state, room_alias_name: "kept" }), [
    400,
    "M_BAD_JSON",
  ]);
  assertEquals(await alice.refusal("POST", "/createRoom", { name: null }), [400, "M_UNKNOWN"]);
  const { joined_rooms: [first, second] } = await alice.ok("GET", "/joined_rooms");
  const { room_id } = await alice.ok("GET", "/directory/room/%23kept:localhost");
  assertEquals(room_id, first);
  for (const room of [first, second]) {
    const state: Json[] = await alice.ok("GET", `/rooms/${room}/state`);
    assertEquals(state.map(({ type }) => type), ["m.room.create", "m.room.member"]);
  }
});

Deno.test("POST /join makes what is in its body part of the member event", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  const own = () => bob.ok("GET", `/rooms/${room}/state/m.room.member/${bob.id}`);
  await bob.ok("POST", `/join/${room}`, { "org.example": 1, membership: "ban" });
  assertEquals(await own(), { "org.example": 1, membership: "join", displayname: "bob" });
  await bob.ok("POST", `/rooms/${room}/join`, { reason: null, "org.example": 2 });
  assertEquals(await own(), { reason: null, membership: "join", displayname: "bob" });
});

Deno.test("who was invited and left reads what members share, and who was banned does not", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ invite: [bob.id, carol.id] });
  await alice.say(room, "hello");
  await bob.ok("POST", `/rooms/${room}/leave`);
  await carol.join(room);
  await alice.ok("POST", `/rooms/${room}/ban`, { user_id: carol.id });
  assertEquals(await bob.refusal("GET", `/rooms/${room}/messages?dir=b`), [200, undefined]);
  assertEquals(await carol.refusal("GET", `/rooms/${room}/messages?dir=b`), [403, "M_FORBIDDEN"]);
});

Deno.test("GET /context asks whether the event is there, and then who may see it", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const event = await alice.say(room, "secret");
  assertEquals(await bob.refusal("GET", `/rooms/${room}/context/$none`), [404, "M_NOT_FOUND"]);
  assertEquals(await bob.refusal("GET", `/rooms/${room}/context/${event}`), [403, "M_FORBIDDEN"]);
});

Deno.test("events have what the first version of the API put outside of unsigned, but not in sync", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ name: "Before" });
  await alice.putState(room, "m.room.name", { name: "After" });
  const { chunk: [event] } = await alice.ok("GET", `/rooms/${room}/messages?dir=b&limit=1`);
  assertEquals([event.user_id, event.age, event.prev_content], [
    alice.id,
    event.unsigned.age,
    { name: "Before" },
  ]);
  const { rooms } = await alice.sync();
  assertEquals(rooms.join[room].timeline.events.at(-1).user_id, undefined);
});

Deno.test("a page of nothing by choice has an end, and a filter asks for relations", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const event_id = await alice.say(room, "like me");
  await alice.say(room, "not me");
  const content = { "m.relates_to": { rel_type: "m.annotation", event_id, key: "+" } };
  await alice.sendEvent(room, "m.reaction", content);
  assertEquals(typeof (await alice.ok("GET", `/rooms/${room}/messages?dir=b&limit=0`)).end, "string");
  const filter = encodeURIComponent(JSON.stringify({ related_by_rel_types: ["m.annotation"] }));
  const { chunk } = await alice.ok("GET", `/rooms/${room}/messages?dir=b&filter=${filter}`);
  assertEquals(chunk.map((event: Json) => event.event_id), [event_id]);
});

Deno.test("only those in a room change whether the directory lists it", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await alice.ok("POST", `/rooms/${room}/leave`);
  const body = { visibility: "public" };
  assertEquals(await alice.refusal("PUT", `/directory/list/room/${room}`, body), [403, "M_FORBIDDEN"]);
});

Deno.test("the predecessor of a room of an old version is the tombstone of the one before", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const old = await alice.createRoom({ room_version: "10" });
  const { replacement_room } = await alice.ok("POST", `/rooms/${old}/upgrade`, { new_version: "11" });
  const { predecessor } = await alice.ok("GET", `/rooms/${replacement_room}/state/m.room.create`);
  const tombstone = await alice.ok("GET", `/rooms/${old}/state/m.room.tombstone?format=event`);
  assertEquals(predecessor, { room_id: old, event_id: tombstone.event_id });
});

Deno.test("whoever asks is told of a public room, but not with a token that does not work", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  const closed = await alice.createRoom();
  const path = `/_matrix/client/v1/room_summary/`;
  alice.token = "";
  const { room_id, membership } = await alice.ok("GET", `${path}${room}`);
  assertEquals([room_id, membership], [room, undefined]);
  assertEquals(await alice.refusal("GET", `${path}${closed}`), [404, "M_NOT_FOUND"]);
  alice.token = "wrong";
  assertEquals(await alice.refusal("GET", `${path}${room}`), [401, "M_UNKNOWN_TOKEN"]);
});

Deno.test("a child of a space names servers, and comes last without a valid order", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const space = await alice.createRoom({ creation_content: { type: "m.space" } });
  const add = (room: string, content: Json) => alice.putState(space, "m.space.child", content, room);
  await add("!none:localhost", { via: [] });
  await add("!far:away.example", { via: ["away.example"], order: "é" });
  await add("!near:localhost", { via: ["localhost"], order: "z" });
  const { rooms: [root, ...others], next_batch } = await alice.ok(
    "GET",
    `/_matrix/client/v1/rooms/${space}/hierarchy?limit=1`,
  );
  assertEquals(root.children_state.map((child: Json) => child.state_key), [
    "!near:localhost",
    "!far:away.example",
  ]);
  assertEquals([others, typeof next_batch], [[], "string"]); // whatever the next page has
});

Deno.test("createRoom: an empty override and nobody invited may have any form", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  await alice.createRoom({ power_level_content_override: [], invite: "" });
  assertEquals(await alice.refusal("POST", "/createRoom", { invite: "bob" }), [400, "M_BAD_JSON"]);
});

Deno.test("a room is described by what has been redacted, until something else is set", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", visibility: "public" });
  const described = async () => {
    const summary = await alice.ok("GET", `/_matrix/client/v1/room_summary/${room}`);
    const { rooms } = await alice.ok("GET", `/_matrix/client/v1/rooms/${room}/hierarchy`);
    const { chunk } = await alice.ok("POST", "/publicRooms", {});
    return [summary, rooms[0], chunk[0]].map(({ topic, encryption }: Json) => [topic, encryption]);
  };
  const algorithm = "m.megolm.v1.aes-sha2";
  const encryption = await alice.putState(room, "m.room.encryption", { algorithm });
  const topic = await alice.putState(room, "m.room.topic", { topic: "Secret" });
  await alice.ok("PUT", `/rooms/${room}/redact/${topic}/t1`, {});
  await alice.ok("PUT", `/rooms/${room}/redact/${encryption}/t2`, {});
  assertEquals(await alice.ok("GET", `/rooms/${room}/state/m.room.topic`), {});
  const inDirectory = (topic: string) => [[topic, algorithm], [topic, algorithm], [topic, undefined]];
  assertEquals(await described(), inDirectory("Secret"));
  await alice.putState(room, "m.room.topic", { topic: "Other" });
  assertEquals(await described(), inDirectory("Other"));
});
