import { assert, assertEquals } from "@std/assert";
import { bodies, type Json } from "../harness.ts";
import { scene } from "./sliding_scene.ts";

Deno.test("Sliding sync sorts rooms by their last event of any kind, and by the membership outside of them", async () => {
  await using here = scene();
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const [one, two] = [await alice.createRoom(), await alice.createRoom()];
  const order = async () => (await alice.slide(undefined, 0)).lists.l.ops[0].room_ids;
  assertEquals(await order(), [two]);
  await alice.done("PUT", `v3/rooms/${one}/state/m.room.topic/`, { topic: "Topic" });
  assertEquals(await order(), [one]);
  const hall = await bob.createRoom({ invite: ["@alice:localhost"] });
  await alice.say(two, "two");
  await bob.say(hall, "behind her back");
  assertEquals(await order(), [two]);
});

Deno.test("A timeline of sliding sync is what the user may see of the last events, and absent if that is nothing", async () => {
  await using here = scene();
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const room = await alice.createRoom({
    initial_state: [{
      type: "m.room.history_visibility",
      state_key: "",
      content: { history_visibility: "joined" },
    }],
  });
  for (const text of ["one", "two"]) await alice.say(room, text);
  await bob.done("POST", `v3/rooms/${room}/join`, {});
  const { rooms, pos } = await bob.slide(undefined, 9);
  assertEquals(rooms[room].timeline.map(({ state_key }: Json) => state_key), ["@bob:localhost"]);
  assert(rooms[room].limited);
  assert(rooms[room].required_state.length > 5);
  await alice.say(room, "three");
  assertEquals(bodies((await bob.slide(pos, 9)).rooms[room].timeline), ["three"]);
  const none = await alice.createRoom();
  for (let index = 0; index < 3; index++) {
    await alice.done("PUT", `v3/rooms/${none}/redact/$none/${index}`, {});
  }
  const shown = (await alice.slide(undefined, 9)).rooms[none];
  assertEquals([shown.timeline, shown.limited], [undefined, true]);
});

Deno.test("With a room come receipts for its timeline and the user's own, later ones for any event; typing as of the connection", async () => {
  await using here = scene();
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const [room, other] = [await alice.createRoom(), await alice.createRoom()];
  await bob.done("POST", `v3/rooms/${room}/join`, {});
  const read = (user: typeof alice, event: string) =>
    user.done("POST", `v3/rooms/${room}/receipt/m.read/${event}`, {});
  const type = () =>
    bob.done("PUT", `v3/rooms/${room}/typing/@bob:localhost`, { typing: true, timeout: 30_000 });
  const old = await alice.say(room, "old");
  await read(bob, old);
  await type();
  for (let index = 0; index < 3; index++) await alice.say(room, `line ${index}`);
  await alice.say(other, "other");
  const seen = async (pos: string | undefined, last: number) => {
    const { extensions, pos: next } = await alice.slide(pos, last);
    return [Object.keys(extensions.receipts.rooms[room]?.content ?? {}), extensions.typing.rooms, next];
  };
  const [, , pos] = await seen(undefined, 0);
  assertEquals((await seen(pos, 9)).slice(0, 2), [[], {}]);
  await read(alice, old);
  const typing = { [room]: { type: "m.typing", content: { user_ids: ["@bob:localhost"] } } };
  const [first, typists, next] = await seen(undefined, 9);
  assertEquals([first, typists], [[old], typing]);
  const late = await alice.say(room, "late");
  await read(bob, late);
  assertEquals((await seen(next, 9)).slice(0, 2), [[late], {}]);
});

Deno.test("The device lists of sliding sync are those of GET /keys/changes", async () => {
  await using here = scene();
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const [hall, den] = [await alice.createRoom(), await bob.createRoom()];
  const { pos } = await alice.slide(undefined, 9);
  await bob.done("POST", `v3/rooms/${hall}/join`, {});
  await bob.done("POST", `v3/rooms/${hall}/leave`, {});
  await alice.done("POST", `v3/rooms/${den}/join`, {});
  await alice.done("POST", `v3/rooms/${den}/leave`, {});
  const { extensions, pos: next } = await alice.slide(pos, 9);
  const [from, to] = [pos, next].map((pos) => pos.split("/")[1]);
  const changes = await alice.done("GET", `v3/keys/changes?from=${from}&to=${to}`);
  assertEquals(extensions.e2ee.device_lists, changes);
  assertEquals(changes, { changed: [], left: ["@bob:localhost"] });
});
