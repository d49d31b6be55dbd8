import { assertEquals } from "@std/assert";
import { type Caller, stage } from "./harness.ts";

const BOB = "@bob:localhost";
const CAROL = "@carol:localhost";
const ACCEPTED = [200, undefined];

function act(caller: Caller, room: string, action: string, user_id?: string, reason?: string) {
  return caller.send("POST", `/rooms/${room}/${action}`, { user_id, reason });
}

Deno.test("membership: a private room takes an invite, which can be rejected and given again", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  const view = scene.homeserver.room(room);
  assertEquals(await bob.refusal("POST", `/join/${room}`, {}), [403, "M_FORBIDDEN"]);
  await act(alice, room, "invite", BOB, "come in");
  assertEquals(view.state("m.room.member", BOB), {
    membership: "invite",
    displayname: "bob",
    reason: "come in",
  });
  await act(bob, room, "leave", undefined, "not now");
  assertEquals(view.state("m.room.member", BOB), { membership: "leave", reason: "not now" });
  await act(alice, room, "invite", BOB);
  await bob.join(room);
  assertEquals(view.members(), ["@alice:localhost", BOB]);
  assertEquals((await act(alice, room, "invite", BOB)).body.errcode, "M_FORBIDDEN");
});

Deno.test("membership: kicks and bans need power over the target, and a ban holds until it is lifted", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  const view = scene.homeserver.room(room);
  await bob.join(room);
  await carol.join(room);
  for (const action of ["kick", "ban"]) assertEquals((await act(bob, room, action, CAROL)).status, 403);
  assertEquals((await act(alice, room, "kick", BOB, "noise")).status, 200);
  assertEquals(view.state("m.room.member", BOB), { membership: "leave", reason: "noise" });
  assertEquals((await act(alice, room, "kick", BOB)).status, 403);
  assertEquals((await act(alice, room, "ban", BOB)).status, 200);
  assertEquals(await bob.refusal("POST", `/join/${room}`, {}), [403, "M_BAD_STATE"]);
  assertEquals((await act(alice, room, "invite", BOB)).body.errcode, "M_BAD_STATE");
  assertEquals((await act(alice, room, "unban", CAROL)).body.errcode, "M_BAD_STATE");
  assertEquals((await act(alice, room, "unban", BOB)).status, 200);
  await bob.join(room);
  assertEquals(view.membership(BOB), "join");
});

Deno.test("membership: a knock is a request that an invite answers", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom();
  assertEquals(await bob.refusal("POST", `/knock/${room}`, {}), [403, "M_FORBIDDEN"]);
  await alice.putState(room, "m.room.join_rules", { join_rule: "knock" });
  await bob.ok("POST", `/knock/${room}`, { reason: "please" });
  assertEquals(scene.homeserver.room(room).state("m.room.member", BOB)?.reason, "please");
  assertEquals(await bob.refusal("POST", `/join/${room}`, {}), [403, "M_FORBIDDEN"]);
  await act(alice, room, "invite", BOB);
  await bob.join(room);
});

Deno.test("membership: a room with a join rule that is no text lets nobody in, invited or not", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  for (const join_rule of [9_007_199_254_740_991, null]) {
    const room = await alice.createRoom({ room_version: "5", invite: [BOB] });
    await alice.putState(room, "m.room.join_rules", { join_rule });
    assertEquals(await bob.refusal("POST", `/join/${room}`, {}), [403, "M_FORBIDDEN"]);
  }
});

Deno.test("membership: a restricted room is open to members of another one", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const club = await alice.createRoom({ preset: "public_chat" });
  const room = await alice.createRoom();
  const allow = [{ type: "m.room_membership", room_id: club }];
  await alice.putState(room, "m.room.join_rules", { join_rule: "restricted", allow });
  assertEquals(await carol.refusal("POST", `/join/${room}`, {}), [403, "M_FORBIDDEN"]);
  await bob.join(club);
  await bob.join(room);
  const member = scene.homeserver.room(room).state("m.room.member", BOB);
  assertEquals(member?.join_authorised_via_users_server, "@alice:localhost");
});

Deno.test("membership: a member event can carry more, and carries the profile where it says nothing", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  await alice.putState(room, "m.room.member", { membership: "invite", "com.example.seat": 7 }, BOB);
  const view = scene.homeserver.room(room);
  assertEquals(view.state("m.room.member", BOB), {
    membership: "invite",
    "com.example.seat": 7,
    displayname: "bob",
  });
  assertEquals(
    await alice.refusal("PUT", `/rooms/${room}/state/m.room.member/${BOB}`, { membership: "king" }),
    [
      400,
      "M_UNKNOWN",
    ],
  );
});

Deno.test("membership: only former members can forget a room, and then it is gone for them", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  assertEquals(await bob.refusal("POST", `/rooms/${room}/forget`, {}), [400, "M_UNKNOWN"]);
  await act(bob, room, "leave");
  assertEquals((await bob.send("GET", `/rooms/${room}/messages?dir=b`)).status, 200);
  await bob.ok("POST", `/rooms/${room}/forget`, {});
  assertEquals(await bob.refusal("GET", `/rooms/${room}/messages?dir=b`), [403, "M_FORBIDDEN"]);
  assertEquals((await bob.sync({ filter: { room: { include_leave: true } } })).rooms, undefined);
});

Deno.test("members: can be asked for by membership and for an earlier moment", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  await bob.join(room);
  const { next_batch } = await alice.sync();
  await carol.join(room);
  await act(bob, room, "leave");
  const members = async (query: string) => {
    const { chunk } = await alice.ok("GET", `/rooms/${room}/members${query}`);
    return chunk.map((event: { state_key: string }) => event.state_key).sort();
  };
  assertEquals(await members(""), ["@alice:localhost", BOB, CAROL]);
  assertEquals(await members("?membership=join"), ["@alice:localhost", CAROL]);
  assertEquals(await members("?not_membership=join"), [BOB]);
  assertEquals(await members(`?membership=join&at=${next_batch}`), ["@alice:localhost", BOB]);
  const { joined } = await alice.ok("GET", `/rooms/${room}/joined_members`);
  assertEquals(joined[CAROL], { display_name: "carol", avatar_url: null });
  assertEquals(await bob.refusal("GET", `/rooms/${room}/joined_members`), [403, "M_FORBIDDEN"]);
});

Deno.test("members: a former member sees the state as it was then", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", name: "Then" });
  await bob.join(room);
  await act(bob, room, "leave");
  await alice.putState(room, "m.room.name", { name: "Now" });
  assertEquals(await bob.ok("GET", `/rooms/${room}/state/m.room.name/`), { name: "Then" });
  assertEquals(await alice.ok("GET", `/rooms/${room}/state/m.room.name/`), { name: "Now" });
});

Deno.test("power levels: no user raises another above themselves or lowers their equals", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat", room_version: "11" });
  await bob.join(room);
  const levels = { ...scene.homeserver.room(room).state("m.room.power_levels") };
  const events = { "m.room.power_levels": 50 };
  const set = async (caller: Caller, users: Record<string, number>, extra = {}) =>
    (await caller.send("PUT", `/rooms/${room}/state/m.room.power_levels/`, {
      ...levels,
      events,
      users,
      ...extra,
    })).status;
  const alice100 = { "@alice:localhost": 100 };
  assertEquals(await set(alice, { ...alice100, [BOB]: 60, [CAROL]: 60 }), 200);
  assertEquals(await set(bob, { ...alice100, [BOB]: 70, [CAROL]: 60 }), 403);
  assertEquals(await set(bob, { ...alice100, [BOB]: 60, [CAROL]: 10 }), 403);
  assertEquals(await set(bob, { "@alice:localhost": 0, [BOB]: 60, [CAROL]: 60 }), 403);
  assertEquals(await set(bob, { ...alice100, [BOB]: 60, [CAROL]: 60 }, { ban: 61 }), 403);
  assertEquals(await set(bob, { ...alice100, [BOB]: 55, [CAROL]: 60 }, { ban: 60 }), 200);
});

Deno.test("power levels: decide who sends what, and state keys of users are theirs", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const room = await alice.createRoom({
    preset: "public_chat",
    power_level_content_override: { events: { "com.example.loud": 10, "com.example.own": 0 } },
  });
  await bob.join(room);
  const put = (path: string) => bob.refusal("PUT", `/rooms/${room}/${path}`, {});
  assertEquals(await put("send/com.example.loud/1"), [403, "M_FORBIDDEN"]);
  assertEquals(await put("send/com.example.quiet/2"), ACCEPTED);
  assertEquals(await put("state/com.example.any/"), [403, "M_FORBIDDEN"]);
  assertEquals(await put("state/com.example.own/@alice:localhost"), [403, "M_FORBIDDEN"]);
  assertEquals(await put(`state/com.example.own/${BOB}`), ACCEPTED);
});
