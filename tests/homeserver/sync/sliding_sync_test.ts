import { assert, assertEquals } from "@std/assert";
import { EXTENSIONS as PROPOSALS, SPELLINGS } from "../../support/sliding.ts";
import { bodies, type Json } from "../harness.ts";
import { FEATURE, scene } from "./sliding_scene.ts";

Deno.test("Sliding sync shows the rooms with the latest messages, and others when they are asked for", async () => {
  await using here = scene();
  const alice = here.user("alice");
  const rooms: string[] = [];
  for (const text of ["one", "two", "three"]) {
    const room = await alice.createRoom();
    await alice.say(room, text);
    rooms.push(room);
  }
  const [one, two, three] = rooms as [string, string, string];
  const first = await alice.slide(undefined, 1);
  assertEquals(first.lists.l, {
    count: 3,
    ops: [{ op: "SYNC", range: [0, 1], room_ids: [three, two] }],
  });
  assertEquals(Object.keys(first.rooms).toSorted(), [two, three].toSorted());
  assertEquals([first.rooms[two].initial, first.rooms[two].limited], [true, true]);
  const second = await alice.slide(first.pos, 9);
  assertEquals(Object.keys(second.rooms), [one]);
  assert(second.rooms[one].initial);
  await alice.say(one, "more");
  const third = await alice.slide(second.pos, 9);
  assertEquals(third.lists.l.ops[0].room_ids, [one, three, two]);
  assertEquals([third.rooms[one].initial, bodies(third.rooms[one].timeline)], [undefined, ["more"]]);
});

Deno.test("A room outside the window is told of when the window has it, since it was shown last", async () => {
  await using here = scene();
  const alice = here.user("alice");
  const [one, two] = [await alice.createRoom(), await alice.createRoom()];
  const all = await alice.slide(undefined, 9);
  for (let index = 0; index < 5; index++) await alice.say(one, `line ${index}`);
  await alice.say(two, "two");
  const newest = await alice.slide(all.pos, 0);
  assertEquals(Object.keys(newest.rooms), [two]);
  const rest = await alice.slide(newest.pos, 9);
  assertEquals(bodies(rest.rooms[one].timeline), ["line 2", "line 3", "line 4"]);
  assertEquals([rest.rooms[one].limited, rest.rooms[one].initial], [true, undefined]);
});

Deno.test("A position that is used makes the connection forget the others, and can be used again", async () => {
  await using here = scene();
  const alice = here.user("alice");
  const room = await alice.createRoom();
  const first = await alice.slide(undefined, 9);
  await alice.say(room, "one");
  const second = await alice.slide(first.pos, 9);
  const again = await alice.slide(first.pos, 9);
  for (const answer of [second, again]) assertEquals(bodies(answer.rooms[room].timeline), ["one"]);
  await alice.say(room, "two");
  await alice.slide(again.pos, 9);
  const body = { lists: {} };
  for (const pos of [first.pos, second.pos, "7/s1_1"]) {
    const response = await alice.ask("POST", `unstable/${FEATURE}/sync?pos=${pos}`, body);
    assertEquals([response.status, (await response.json()).errcode], [400, "M_UNKNOWN_POS"]);
  }
  await alice.slide(undefined, 9, { conn: "other" });
  await alice.slide(again.pos, 9); // connections know nothing of one another
});

Deno.test("A new connection shows rooms that the user was removed from, with receipts, and not those that were left", async () => {
  await using here = scene();
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const [left, kicked] = [await alice.createRoom(), await alice.createRoom()];
  for (const room of [left, kicked]) await bob.done("POST", `v3/rooms/${room}/join`, {});
  const before = await bob.slide(undefined, 9);
  await bob.done("POST", `v3/rooms/${left}/leave`, {});
  await alice.done("POST", `v3/rooms/${kicked}/kick`, { user_id: "@bob:localhost" });
  const event = await alice.say(kicked, "behind his back");
  await alice.done("POST", `v3/rooms/${kicked}/receipt/m.read/${event}`, {});
  const old = await bob.slide(before.pos, 9);
  assertEquals(Object.keys(old.rooms).toSorted(), [left, kicked].toSorted());
  assertEquals(Object.keys(old.extensions.receipts.rooms), [kicked]);
  const fresh = await bob.slide(undefined, 9, { conn: "new" });
  assertEquals(Object.keys(fresh.rooms), [kicked]);
  assertEquals(bodies(fresh.rooms[kicked].timeline), []);
});

for (const isShown of [true, false]) {
  Deno.test(`A room that was left and forgotten is shown once more, and not again, shown before: ${isShown}`, async () => {
    await using here = scene();
    const [alice, bob] = [here.user("alice"), here.user("bob")];
    const room = await alice.createRoom();
    const early = isShown ? undefined : await bob.slide(undefined, 9);
    await bob.done("POST", `v3/rooms/${room}/join`, {});
    const { pos } = early ?? await bob.slide(undefined, 9);
    for (const action of ["leave", "forget"]) await bob.done("POST", `v3/rooms/${room}/${action}`, {});
    const next = await bob.slide(pos, 9);
    assertEquals([next.lists.l.count, Object.keys(next.rooms)], [1, [room]]);
    const last = await bob.slide(next.pos, 9);
    assertEquals([last.lists.l.count, last.rooms], [0, {}]);
  });
}

Deno.test("Sliding sync waits for news until its timeout, and has what is beside rooms", async () => {
  await using here = scene();
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const { pos } = await alice.slide(undefined, 9);
  const waiting = alice.slide(pos, 9, { timeout: 30_000 });
  await here.clock.tick(10_000);
  await bob.done("PUT", "v3/sendToDevice/com.example.cue/1", {
    messages: { "@alice:localhost": { "*": { act: 1 } } },
  });
  const { extensions, pos: next } = await waiting;
  assertEquals(extensions.to_device.events.map(({ content }: Json) => content), [{ act: 1 }]);
  const idle = alice.slide(next, 9, { timeout: 30_000 });
  await here.clock.tick(30_000);
  // It was not acknowledged.
  assertEquals((await idle).extensions.to_device.events.length, 1);
});

for (const path of [`unstable/${FEATURE}/sync`, "v4/sync"]) {
  Deno.test(`A homeserver that does not say so has no sliding sync: ${path}`, async () => {
    await using here = scene({});
    const response = await here.user("alice").ask("POST", path, {});
    assertEquals([response.status, (await response.json()).errcode], [404, "M_UNRECOGNIZED"]);
  });
}

Deno.test("The merged spelling says what the user is to rooms, and its positions are tokens for other requests", async () => {
  await using here = scene(SPELLINGS.merged);
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const [one, two] = [await alice.createRoom(), await alice.createRoom({ invite: ["@bob:localhost"] })];
  await bob.done("POST", `v3/rooms/${one}/join`, {});
  const first = await bob.slideMerged(undefined);
  assertEquals(first.lists, { l: { count: 2 } });
  assertEquals([first.rooms[one].membership, first.rooms[one].initial], ["join", true]);
  assertEquals([first.rooms[two].membership, first.rooms[two].timeline_events], ["invite", undefined]);
  assert(first.rooms[two].stripped_state.length > 0);
  await alice.say(one, "hello");
  const second = await bob.slideMerged(first.pos);
  assertEquals(bodies(second.rooms[one].timeline_events), ["hello"]);
  const { chunk } = await bob.done("GET", `v3/rooms/${one}/messages?dir=f&from=${first.pos}`);
  assertEquals(bodies(chunk), ["hello"]);
  const window = await alice.slideMerged(undefined, { lists: { l: { range: [0, 0], timeline_limit: 1 } } });
  assertEquals([Object.keys(window.rooms), window.lists.l.count], [[one], 2]);
  const unknown = await bob.ask("POST", "v4/sync", { pos: "s1_1~99" });
  assertEquals([unknown.status, (await unknown.json()).errcode], [400, "M_UNKNOWN_POS"]);
});

Deno.test("The merged spelling leaves out extensions without news; receipts and typing are contents, of joined rooms", async () => {
  await using here = scene(SPELLINGS.merged);
  const [alice, bob] = [here.user("alice"), here.user("bob")];
  const [room, kicked] = [await alice.createRoom(), await alice.createRoom()];
  for (const id of [room, kicked]) await bob.done("POST", `v3/rooms/${id}/join`, {});
  const first = await bob.slideMerged(undefined);
  assertEquals(first.extensions.e2ee.device_one_time_keys_count, { signed_curve25519: 0 });
  assertEquals(first.extensions.to_device, undefined);
  await alice.done("POST", `v3/rooms/${kicked}/kick`, { user_id: "@bob:localhost" });
  const between = await bob.slideMerged(first.pos);
  assertEquals(between.rooms[kicked].membership, "leave");
  const events = [await alice.say(room, "hello"), await alice.say(kicked, "behind his back")];
  for (const [index, id] of [room, kicked].entries()) {
    await alice.done("POST", `v3/rooms/${id}/receipt/m.read/${events[index]}`, {});
  }
  await alice.done("PUT", `v3/rooms/${room}/typing/@alice:localhost`, { typing: true, timeout: 30_000 });
  const { extensions, pos } = await bob.slideMerged(between.pos);
  assertEquals(Object.keys(extensions).toSorted(), ["receipts", "typing"]);
  assertEquals(Object.keys(extensions.receipts.rooms), [room]);
  assertEquals(Object.keys(extensions.receipts.rooms[room]), [events[0]]);
  assertEquals(extensions.typing.rooms, { [room]: { user_ids: ["@alice:localhost"] } });
  await bob.done("POST", "v3/keys/upload", {
    fallback_keys: { "signed_curve25519:A": { key: "x", fallback: true, signatures: {} } },
  });
  for (let time = 0; time < 2; time++) { // a position that is used again: what was said of keys is said again
    const { extensions: { e2ee } } = await bob.slideMerged(pos);
    assertEquals(e2ee.device_unused_fallback_key_types, ["signed_curve25519"]);
  }
});

Deno.test("Extensions of proposals that are not accepted have prefixes", async () => {
  const features = Object.fromEntries(PROPOSALS.map((name) => [`org.matrix.${name}`, true]));
  await using here = scene({ "org.matrix.simplified_msc3575.stable": true, ...features });
  const alice = here.user("alice");
  const enabled = { enabled: true };
  const wanted = { e2ee: enabled, "org.matrix.msc4543.e2ee": enabled, typing: enabled };
  const { extensions } = await alice.slideMerged(undefined, { extensions: wanted });
  assertEquals(Object.keys(extensions), ["org.matrix.msc4543.e2ee"]);
  const body = { extensions: { "org.matrix.msc4538.to_device": { ...enabled, limit: 0 } } };
  const refused = await alice.ask("POST", "v4/sync", body);
  assertEquals([refused.status, (await refused.json()).errcode], [400, "M_INVALID_PARAM"]);
});
