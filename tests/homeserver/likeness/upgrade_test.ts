import { assertEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

Deno.test("who upgrades has the power for it only until the room is made", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const levels = {
    users: { [alice.id]: 100, [bob.id]: 50 },
    events: { "m.room.tombstone": 50, "m.room.name": 100 },
  };
  const old = await alice.createRoom({
    preset: "public_chat",
    room_version: "10",
    power_level_content_override: levels,
  });
  await bob.join(old);
  const { replacement_room } = await bob.ok("POST", `/rooms/${old}/upgrade`, { new_version: "11" });
  const { users } = await bob.ok("GET", `/rooms/${replacement_room}/state/m.room.power_levels`);
  assertEquals(users, levels.users);
  const { chunk } = await bob.ok("GET", `/rooms/${replacement_room}/messages?dir=f&limit=4`);
  assertEquals(chunk[2].content.users[bob.id], 100);
});

Deno.test("an upgrade takes along what members have set for the room, and bans as they are", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const old = await alice.createRoom({ room_version: "11" });
  await alice.ok("POST", `/rooms/${old}/ban`, { user_id: bob.id, reason: "rude" });
  const direct = `/user/${alice.id}/account_data/m.direct`;
  await alice.ok("PUT", direct, { [bob.id]: [old] });
  await alice.ok("PUT", `/user/${alice.id}/rooms/${old}/tags/u.mine`, { order: 1 });
  await alice.ok("PUT", `/pushrules/global/room/${old}`, { actions: [] });
  const { replacement_room: room } = await alice.ok("POST", `/rooms/${old}/upgrade`, { new_version: "11" });
  assertEquals(await alice.ok("GET", direct), { [bob.id]: [old, room] });
  assertEquals((await alice.ok("GET", `/user/${alice.id}/rooms/${room}/tags`)).tags, {
    "u.mine": { order: 1 },
  });
  const rules: Json[] = await alice.ok("GET", "/pushrules/global/room/");
  assertEquals(rules.map(({ rule_id }) => rule_id), [room, old]);
  const { membership, reason } = await alice.ok("GET", `/rooms/${room}/state/m.room.member/${bob.id}`);
  assertEquals([membership, reason], ["ban", "rude"]);
});

Deno.test("the canonical alias moves with the room, and what else its event says stays", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const old = await alice.createRoom({ room_alias_name: "x" });
  await alice.putState(old, "m.room.canonical_alias", { alias: "#x:localhost", note: 1 });
  const { replacement_room } = await alice.ok("POST", `/rooms/${old}/upgrade`, { new_version: "12" });
  const aliases = (room: string) => alice.ok("GET", `/rooms/${room}/state/m.room.canonical_alias`);
  assertEquals(await aliases(old), { note: 1 });
  assertEquals(await aliases(replacement_room), { alias: "#x:localhost" });
});

Deno.test("creators that an upgrade adds are user IDs, if the version has such creators", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const old = await alice.createRoom();
  const upgrade = (new_version: string) =>
    alice.refusal("POST", `/rooms/${old}/upgrade`, { new_version, additional_creators: ["bob"] });
  assertEquals(await upgrade("12"), [400, "M_FORBIDDEN"]);
  assertEquals(await upgrade("11"), [200, undefined]);
});
