import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { type Json, stage } from "./harness.ts";

const MARKED = true as unknown;

const types = (events: readonly Json[]): string[] => events.map(({ type }) => type);

Deno.test("createRoom: the order of events is that of the specification, and name and topic come last", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice } = scene.users;
  const room = await alice.createRoom({
    room_alias_name: "stage",
    name: "Stage",
    topic: "Break a leg",
    invite: ["@bob:localhost"],
    initial_state: [
      { type: "m.room.name", content: { name: "Overridden" } },
      { type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } },
    ],
  });
  assertEquals(types(scene.homeserver.room(room).events), [
    "m.room.create",
    "m.room.member",
    "m.room.power_levels",
    "m.room.canonical_alias",
    "m.room.join_rules",
    "m.room.history_visibility",
    "m.room.guest_access",
    "m.room.name",
    "m.room.encryption",
    "m.room.name",
    "m.room.topic",
    "m.room.member",
  ]);
  assertEquals(scene.homeserver.room(room).state("m.room.name"), { name: "Stage" });
});

Deno.test("createRoom: initial_state overrides the preset", async () => {
  await using scene = stage(["alice"]);
  const room = await scene.users.alice.createRoom({
    preset: "public_chat",
    initial_state: [
      { type: "m.room.join_rules", state_key: "", content: { join_rule: "knock" } },
      { type: "m.room.history_visibility", content: { history_visibility: "joined" } },
    ],
  });
  const view = scene.homeserver.room(room);
  assertEquals(view.state("m.room.join_rules"), { join_rule: "knock" });
  assertEquals(view.state("m.room.history_visibility"), { history_visibility: "joined" });
  assertEquals(types(view.events).filter((type) => type === "m.room.join_rules").length, 1);
});

Deno.test("createRoom: presets and visibility give join rules and power", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice } = scene.users;
  const made = async (options: Json) => scene.homeserver.room(await alice.createRoom(options));
  assertEquals((await made({})).state("m.room.join_rules"), { join_rule: "invite" });
  assertEquals((await made({ visibility: "public" })).state("m.room.join_rules"), { join_rule: "public" });
  assertEquals((await made({ preset: "public_chat" })).state("m.room.guest_access"), undefined);
  const trusted = await made({
    preset: "trusted_private_chat",
    invite: ["@bob:localhost"],
    room_version: "11",
  });
  assertEquals(trusted.state("m.room.power_levels")?.users, {
    "@alice:localhost": 100,
    "@bob:localhost": 100,
  });
});

Deno.test("createRoom: is_direct marks the invites only", async () => {
  await using scene = stage(["alice", "bob"]);
  const room = await scene.users.alice.createRoom({ is_direct: true, invite: ["@bob:localhost"] });
  const view = scene.homeserver.room(room);
  assertEquals(view.state("m.room.member", "@bob:localhost")?.is_direct, MARKED);
  assertEquals(view.state("m.room.member", "@alice:localhost")?.is_direct, undefined);
});

Deno.test("createRoom: a room of version 12 is named after its create event and its creators are not listed", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "trusted_private_chat", invite: ["@bob:localhost"] });
  assertFalse(room.includes(":"));
  const view = scene.homeserver.room(room);
  assertEquals(view.events[0]?.event_id, `$${room.slice(1)}`);
  assertEquals(view.state("m.room.create")?.additional_creators, ["@bob:localhost"]);
  assertEquals(view.state("m.room.power_levels")?.users, {});
  await bob.join(room);
  const levels = view.state("m.room.power_levels");
  await bob.putState(room, "m.room.power_levels", { ...levels, ban: 1000 });
  assertEquals(await alice.refusal("POST", `/rooms/${room}/kick`, { user_id: "@bob:localhost" }), [
    403,
    "M_FORBIDDEN",
  ]);
  assertEquals(
    await alice.refusal("PUT", `/rooms/${room}/state/m.room.power_levels/`, {
      users: { "@alice:localhost": 100 },
    }),
    [400, "M_UNKNOWN"],
  );
});

Deno.test("createRoom: rooms before version 12 carry the server name, and events before version 3 too", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  for (const version of ["1", "2", "3", "10", "11"]) {
    const room = await alice.createRoom({ room_version: version });
    assertMatch(room, /^!\w{18}:localhost$/);
    const id = scene.homeserver.room(room).events[0]?.event_id ?? "";
    assertEquals(id.endsWith(":localhost"), Number(version) < 3);
  }
});

Deno.test("createRoom: power_level_content_override replaces parts of the levels", async () => {
  await using scene = stage(["alice"]);
  const room = await scene.users.alice.createRoom({ power_level_content_override: { events_default: 7 } });
  const levels = scene.homeserver.room(room).state("m.room.power_levels");
  assertEquals([levels?.events_default, levels?.ban], [7, 50]);
});

Deno.test("createRoom: what can't be is refused, and nothing is left of what is refused at once", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const refused = (body: Json) => alice.refusal("POST", "/createRoom", body);
  assertEquals(await refused({ room_version: "99" }), [400, "M_UNSUPPORTED_ROOM_VERSION"]);
  assertEquals(await refused({ preset: "none" }), [400, "M_BAD_JSON"]);
  assertEquals(await refused({ invite: ["bob"] }), [400, "M_UNKNOWN"]);
  assertEquals(await refused({ room_alias_name: "a:b" }), [400, "M_UNKNOWN"]);
  assertEquals(scene.homeserver.rooms, []);
  await alice.createRoom({ room_alias_name: "kept" });
  assertEquals(await refused({ room_alias_name: "kept" }), [400, "M_ROOM_IN_USE"]);
  assertEquals((await alice.ok("GET", "/joined_rooms")).joined_rooms.length, 1);
});

Deno.test("upgrade: the new room takes over state, bans and aliases, and the old one is closed", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const old = await alice.createRoom({
    room_version: "10",
    preset: "public_chat",
    name: "Old",
    room_alias_name: "place",
  });
  await bob.join(old);
  await alice.ok("POST", `/rooms/${old}/ban`, { user_id: "@carol:localhost" });
  assertEquals(await bob.refusal("POST", `/rooms/${old}/upgrade`, { new_version: "12" }), [
    403,
    "M_FORBIDDEN",
  ]);
  const { replacement_room } = await alice.ok("POST", `/rooms/${old}/upgrade`, { new_version: "12" });
  const [before, after] = [scene.homeserver.room(old), scene.homeserver.room(replacement_room)];
  assertEquals(before.state("m.room.tombstone")?.replacement_room, replacement_room);
  assertEquals(after.state("m.room.create")?.predecessor, { room_id: old });
  assertEquals(after.state("m.room.name"), { name: "Old" });
  assertEquals(after.membership("@carol:localhost"), "ban");
  assertEquals((await alice.ok("GET", "/directory/room/%23place:localhost")).room_id, replacement_room);
  assertEquals(
    await bob.refusal("PUT", `/rooms/${old}/send/m.room.message/1`, { body: "x", msgtype: "m.text" }),
    [
      403,
      "M_FORBIDDEN",
    ],
  );
  await bob.join("#place:localhost");
  assert(after.members().includes("@bob:localhost"));
});

Deno.test("hierarchy: spaces are walked depth first, in the order of their children", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = (name: string, extra = {}) => alice.createRoom({ name, preset: "public_chat", ...extra });
  const space = { creation_content: { type: "m.space" } };
  const [top, inner, first, last] = [
    await room("top", space),
    await room("inner", space),
    await room("a"),
    await room("z"),
  ];
  const secret = await alice.createRoom({ name: "secret" });
  await alice.putState(top, "m.space.child", { via: ["localhost"], order: "b" }, last);
  await alice.putState(top, "m.space.child", { via: ["localhost"], order: "a", suggested: true }, inner);
  await alice.putState(top, "m.space.child", { via: ["localhost"], order: "c" }, secret);
  await alice.putState(inner, "m.space.child", { via: ["localhost"] }, first);
  const names = async (caller: typeof alice, query = "") => {
    const { rooms } = await caller.ok("GET", `/_matrix/client/v1/rooms/${top}/hierarchy${query}`);
    return rooms.map(({ name }: Json) => name);
  };
  assertEquals(await names(alice), ["top", "inner", "a", "z", "secret"]);
  assertEquals(await names(bob), ["top", "inner", "a", "z"]);
  assertEquals(await names(bob, "?suggested_only=true"), ["top", "inner"]);
  assertEquals(await names(bob, "?max_depth=1"), ["top", "inner", "z"]);
  const page = await bob.ok("GET", `/_matrix/client/v1/rooms/${top}/hierarchy?limit=3`);
  const next = await bob.ok(
    "GET",
    `/_matrix/client/v1/rooms/${top}/hierarchy?limit=3&from=${page.next_batch}`,
  );
  assertEquals([page.rooms.length, next.rooms.length, next.next_batch], [3, 1, undefined]);
});

Deno.test("room_summary: describes rooms that the user could join, and no others", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const open = await alice.createRoom({ preset: "public_chat", name: "Open", topic: "All" });
  const closed = await alice.createRoom({ name: "Closed" });
  const summary = await bob.ok("GET", `/_matrix/client/v1/room_summary/${open}`);
  assertEquals([summary.name, summary.topic, summary.num_joined_members, summary.membership], [
    "Open",
    "All",
    1,
    "leave",
  ]);
  assertEquals(await bob.refusal("GET", `/_matrix/client/v1/room_summary/${closed}`), [404, "M_NOT_FOUND"]);
});
