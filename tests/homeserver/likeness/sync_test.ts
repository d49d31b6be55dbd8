import { assertEquals } from "@std/assert";
import { type Json, stage } from "../harness.ts";

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
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const room = await alice.createRoom();
  const joined = (await alice.sync({ "org.matrix.msc4222.use_state_after": true })).rooms.join[room];
  assertEquals([joined.state, joined["org.matrix.msc4222.state_after"].events.length], [undefined, 6]);
});

Deno.test("GET /sync knows no from", async () => {
  await using scene = stage(["alice"]);
  assertEquals(await scene.users.alice.refusal("GET", "/sync?from=s1"), [400, "M_UNKNOWN"]);
});
