import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { device } from "./fakes.ts";
import { ALICE, BOB, ME, ROOM, stateEvent } from "./room.ts";
import { indexOf, Stage } from "./stage.ts";

const alice = device(ALICE, "ALICE1"), bob = device(BOB, "BOB1");

Deno.test("a room goes step by step from nothing to ready", async () => {
  const stage = await Stage.open();
  stage.devices.markDirty(BOB);
  const seen: string[] = [];
  for (;;) {
    const { needs } = await stage.prepare();
    seen.push(needs);
    if (needs === "nothing") break;
    if (needs === "room") await stage.describe();
    if (needs === "keysQuery") stage.devices.dirty.clear();
    if (needs === "keysClaim") stage.olm.claim();
    if (needs === "toDevice") await stage.deliver();
  }
  assertEquals(seen, ["room", "keysQuery", "keysClaim", "toDevice", "nothing"]);
  assertEquals([...stage.devices.trackedUsers].sort(), [ALICE, BOB, ME]);
});

Deno.test("a key goes to every device of every member, invited ones too, and the own other devices, but not to the own", async () => {
  const stage = await Stage.open();
  const others = [device(BOB, "BOB2"), device(ME, "OTHER"), device("@carol:example.org", "CAROL1")];
  stage.devices.put(...others, device(ME, "OWNDEVICE"));
  stage.room.members.set("@carol:example.org", "invite");
  const event = await stage.send();
  const devices = [alice, bob, ...others];
  for (const receiver of devices) {
    assertEquals(stage.read(receiver, event), {
      type: "m.room.message",
      content: { msgtype: "m.text", body: "hello" },
      room_id: ROOM,
    });
  }
  assertEquals(stage.received.size, devices.length);
  const { shared, withheld } = await stage.ready();
  assertEquals(
    new Set(shared.map(({ deviceId }) => deviceId)),
    new Set(devices.map((each) => each.deviceId)),
  );
  assertEquals(withheld, []);
});

Deno.test("a key says what it is for, and the copy for this device is the same", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  const [key] = stage.keysOf(alice);
  const { session_key, ...rest } = key ?? {};
  assertEquals(rest, {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: ROOM,
    session_id,
    "m.shared_history": true, // as matrix-sdk-crypto reads it
    shared_history: true,
  });
  assertEquals(stage.copies.added, [{ roomId: ROOM, sessionKey: String(session_key), sharedHistory: true }]);
});

for (const visibility of ["joined", "invited", "shared", "world_readable", "nonsense", undefined]) {
  const expected = visibility === "shared" || visibility === "world_readable";
  Deno.test(`a key ${expected ? "may" : "must not"} be passed on if the history is ${visibility}`, async () => {
    const stage = await Stage.open();
    stage.room.visibility = visibility;
    await stage.ready();
    assertEquals(stage.keysOf(alice)[0]?.shared_history, expected);
    assertEquals(stage.copies.added[0]?.sharedHistory, expected);
  });
}

Deno.test("an invited user gets no key where history is for members only, and gets it on joining", async () => {
  const stage = await Stage.open();
  stage.room.visibility = "joined";
  stage.room.members.set(BOB, "invite");
  const first = await stage.send();
  await stage.member(BOB, "join");
  const second = await stage.send();
  assertEquals([stage.canRead(bob, first), stage.canRead(bob, second)], [false, true]);
  assertEquals(first.session_id, second.session_id);
});

Deno.test("a new device gets the key from the next event on", async () => {
  const stage = await Stage.open();
  const first = await stage.send();
  const added = device(BOB, "BOB2");
  stage.devices.put(added);
  assertEquals(await stage.tryToSend(), undefined);
  const second = await stage.send();
  assertEquals([indexOf(first), indexOf(second)], [0, 1]);
  assertEquals([stage.canRead(added, first), stage.canRead(added, second)], [false, true]);
  assertEquals(stage.keysOf(bob).length, 1);
  const sharedAt = (of: typeof added) =>
    stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(first.session_id), of));
  assertEquals([await sharedAt(bob), await sharedAt(added), await sharedAt(device(BOB, "BOB3"))], [
    0,
    1,
    undefined,
  ]);
  assertEquals(await sharedAt({ ...bob, curve25519: "another" }), undefined);
});

Deno.test("a new device gets the key however much has changed elsewhere since", async () => {
  const stage = await Stage.open();
  await stage.send();
  const added = device(BOB, "BOB2");
  stage.devices.put(added);
  for (let count = 0; count < 3_000; count++) stage.devices.changes.note("@elsewhere:example.org");
  assert(stage.canRead(added, await stage.send()));
});

Deno.test("a new device of the own user gets the key, even if the list of members does not name the user", async () => {
  const stage = await Stage.open();
  stage.room.members.delete(ME);
  await stage.send();
  const added = device(ME, "OTHER");
  stage.devices.put(added);
  assert(stage.canRead(added, await stage.send()));
});

Deno.test("devices that may be out of date are looked up first, unless that was in vain", async () => {
  const stage = await Stage.open();
  await stage.send();
  stage.devices.markDirty(BOB);
  assertEquals(await stage.tryToSend(), undefined);
  assertEquals(await stage.prepare(), { needs: "keysQuery" });
  const readiness = await stage.prepare({ tolerate: { keysQuery: true, keysClaim: false } });
  assertEquals(readiness.needs, "nothing");
  assert(
    await stage.tryToSend() !== undefined,
    "what is tolerated once is tolerated until something changes",
  );
  assert(await stage.tryToSend() !== undefined);
  assertEquals((await stage.prepare()).needs, "nothing");
  stage.devices.markDirty(ALICE);
  assertEquals(await stage.tryToSend(), undefined);
});

Deno.test("100 devices are in one request, 251 in two, and no event leaves before the last was taken", async () => {
  const stage = await Stage.open();
  const add = (count: number) => {
    const devices = Array.from({ length: count }, (_, index) => device(ALICE, `A${index}`));
    stage.devices.put(...devices);
  };
  add(98);
  await stage.describe();
  await stage.prepare();
  stage.olm.claim();
  await stage.prepare();
  assertEquals(sizes(stage), [100]);
  await stage.deliver();
  assertEquals((await stage.prepare()).needs, "nothing");

  add(98 + 251);
  await stage.prepare();
  stage.olm.claim();
  assertEquals([(await stage.prepare()).needs, sizes(stage)], ["toDevice", [250]]);
  assertEquals([(await stage.prepare()).needs, sizes(stage)], ["toDevice", [250, 1]]);
  assertEquals(await stage.tryToSend(), undefined);
  await stage.deliver({ count: 1 });
  assertEquals((await stage.prepare()).needs, "toDevice");
  assertEquals(await stage.tryToSend(), undefined);
  await stage.deliver();
  assertEquals((await stage.prepare()).needs, "nothing");
  assert(await stage.tryToSend() !== undefined);
});

function sizes({ outbox }: Stage): number[] {
  return outbox.pending().map((entry) =>
    entry.kind !== "toDevice"
      ? 0
      : Object.values(entry.messages).flatMap((devices) => Object.keys(devices)).length
  );
}

Deno.test("a device that lost its Olm sessions gets the key again before the next event, and not a third time", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  await stage.send();
  stage.olm.wedge(bob);
  assertEquals(await stage.tryToSend(), undefined);
  await stage.send();
  await stage.send();
  assertEquals([stage.keysOf(bob).length, stage.keysOf(alice).length], [2, 1]);
  assertEquals(
    stage.keysOf(bob)[1],
    stage.keysOf(bob)[0],
    "the same key, so that a device that keeps the last one loses nothing",
  );
  const at = await stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(session_id), bob));
  assertEquals(at, 0, "it had the key from the start");
  assertEquals((await stage.vault.list(["crypto", "outbound_roster"])).length, 1, "who has it is noted once");
});

Deno.test("a key that is shared again decrypts for a device what it could decrypt before, and nothing else", async () => {
  const stage = await Stage.open();
  const first = await stage.send();
  const added = device(BOB, "BOB2");
  stage.devices.put(added);
  const events = [await stage.send(), await stage.send()];
  for (const lost of [bob, added]) {
    stage.olm.wedge(lost);
    stage.received.delete(lost.curve25519);
  }
  await stage.restart();
  events.push(await stage.send());
  for (const event of events) assert(stage.canRead(bob, event) && stage.canRead(added, event));
  assertEquals([stage.canRead(bob, first), stage.canRead(added, first)], [true, false]);
  assertEquals(new Set(events.map((event) => event.session_id)), new Set([first.session_id]));
});

Deno.test("a device that lost its Olm sessions while its key was on the way gets the key twice, from the same index on", async () => {
  const stage = await Stage.open();
  await stage.describe();
  await stage.prepare();
  stage.olm.claim();
  assertEquals((await stage.prepare()).needs, "toDevice");
  stage.olm.wedge(bob);
  await stage.restart();
  await stage.describe();
  const event = await stage.send();
  assertEquals([stage.keysOf(bob).length, stage.keysOf(alice).length, indexOf(event)], [2, 1, 0]);
  assertEquals(stage.keysOf(bob)[1], stage.keysOf(bob)[0]);
});

Deno.test("a key whose copy is damaged is not shared again from a later message on; a new session mends it", async () => {
  const stage = await Stage.open();
  const first = await stage.send();
  stage.copies.damaged = true;
  stage.olm.wedge(bob);
  await stage.send();
  assertEquals(stage.keysOf(bob).length, 1);
  assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.unavailable"]);
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  const next = await stage.send();
  assertNotEquals(next.session_id, first.session_id);
  assert(stage.canRead(bob, next));
});

Deno.test("devices with strange names get keys like all others", async () => {
  const stage = await Stage.open();
  const strange = ["__proto__", "constructor", "toString", ""].map((name) =>
    device(BOB, name, { curve25519: `strange ${name}` })
  );
  stage.devices.put(...strange);
  const event = await stage.send();
  for (const each of strange) assert(stage.canRead(each, event), each.deviceId);
});

Deno.test("a user who was just invited gets the key before the next sync", async () => {
  const stage = await Stage.open();
  await stage.send();
  const carol = device("@carol:example.org", "CAROL1");
  stage.devices.put(carol);
  // What the server has accepted is received as if it had come with a sync.
  await stage.member(carol.userId, "invite");
  assert(stage.canRead(carol, await stage.send()));
  assert(stage.devices.trackedUsers.has(carol.userId));
});

Deno.test("an invited user's new device gets the key, and the one that was logged out takes the session with it", async () => {
  const stage = await Stage.open();
  stage.room.members.set(BOB, "invite");
  const first = await stage.send();
  await stage.removeDevice(BOB, "BOB1");
  const swapped = device(BOB, "BOB2");
  stage.devices.put(swapped);
  await stage.member(BOB, "join");
  const second = await stage.send();
  assertEquals([bob, swapped].map((each) => stage.canRead(each, first)), [true, false]);
  assertEquals([bob, swapped].map((each) => stage.canRead(each, second)), [false, true]);
});

Deno.test("members of whom the server said that they share no room are looked up again before the next event", async () => {
  const stage = await Stage.open();
  await stage.send();
  stage.devices.trackedUsers.delete(BOB);
  stage.devices.tracked.version++;
  await stage.send();
  assert(stage.devices.trackedUsers.has(BOB));
});

Deno.test("members who left during the request for the list are not on it", async () => {
  const stage = await Stage.open();
  await stage.prepare();
  const asked = [...stage.room.members];
  await stage.sync([stateEvent("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" })]);
  await stage.member(BOB, "leave");
  await stage.describe(asked);
  assert(!stage.canRead(bob, await stage.send()));
});
