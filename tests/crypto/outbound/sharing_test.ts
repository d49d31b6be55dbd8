import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { IdentityChangedError } from "../../../src/errors/encryption_errors.ts";
import type { UserID } from "../../../src/types/ids.ts";
import { device } from "./fakes.ts";
import { ALICE, BOB, indexOf, ME, ROOM, Stage, stateEvent } from "./stage.ts";

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
  assertEquals([...stage.devices.tracked].sort(), [ALICE, BOB, ME]);
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

Deno.test("a blocked device gets a notice that names the session, once a session", async () => {
  const stage = await Stage.open();
  stage.devices.put({ ...bob, trust: "blacklisted" });
  const first = await stage.send();
  await stage.send();
  stage.devices.put(device(ALICE, "ALICE2")); // has everybody looked at again
  const event = await stage.send();
  assert(!stage.canRead(bob, event));
  const [notice, ...more] = stage.noticesOf(bob);
  assertEquals(more, []);
  const { sender_key, reason, ...rest } = notice ?? {};
  assertEquals([typeof sender_key, typeof reason], ["string", "string"]);
  assertEquals(rest, {
    algorithm: "m.megolm.v1.aes-sha2",
    room_id: ROOM,
    session_id: first.session_id,
    code: "m.blacklisted",
    from_device: "OWNDEVICE",
  });
  const { withheld } = await stage.ready();
  assertEquals(withheld.map(({ device: { deviceId }, code }) => [deviceId, code]), [[
    "BOB1",
    "m.blacklisted",
  ]]);
});

Deno.test("a device that is unblocked gets the key from then on", async () => {
  const stage = await Stage.open();
  stage.devices.put({ ...bob, trust: "blacklisted" });
  const first = await stage.send();
  stage.devices.put(bob);
  const second = await stage.send();
  assertEquals([stage.canRead(bob, first), stage.canRead(bob, second)], [false, true]);
});

Deno.test("a device without one-time keys is told so once, without a room, and gets the key when there is a session", async () => {
  const stage = await Stage.open();
  stage.olm.exhausted.add(bob.curve25519);
  const first = await stage.send();
  assert(stage.olm.wanted.has(bob.curve25519), "it is asked for again, but nobody waits");
  const [notice, ...more] = stage.noticesOf(bob);
  assertEquals([notice?.code, notice?.room_id, notice?.session_id], ["m.no_olm", undefined, undefined]);
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.send();
  assertEquals([more, stage.noticesOf(bob).length], [[], 1]);
  assertEquals((await stage.ready()).withheld.map(({ code }) => code), ["m.no_olm"]);

  stage.olm.begin(bob); // it wrote to us
  assertEquals(await stage.tryToSend(), undefined);
  const second = await stage.send();
  assertEquals([stage.canRead(bob, first), stage.canRead(bob, second)], [false, true]);
  assertEquals((await stage.ready()).withheld, []);
});

Deno.test("a claim that was in vain is not waited for", async () => {
  const stage = await Stage.open();
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "keysClaim" });
  assertEquals(await stage.prepare(), { needs: "keysClaim" });
  const tolerate = { keysQuery: false, keysClaim: true };
  assertEquals((await stage.prepare({ tolerate })).needs, "toDevice"); // the notices
  await stage.deliver();
  assertEquals((await stage.prepare()).needs, "nothing");
  assert(await stage.tryToSend() !== undefined);
});

Deno.test("a device that lost its Olm sessions gets the key again before the next event, and not a third time", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  await stage.send();
  stage.olm.wedge(bob);
  assertEquals(await stage.tryToSend(), undefined);
  await stage.send();
  await stage.send();
  assertEquals([stage.keysOf(bob).length, stage.keysOf(alice).length], [2, 1]);
  const at = await stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(session_id), bob));
  assertEquals(at, 0, "it had the key from the start");
});

Deno.test("a device that has the key and can't be reached any more still takes the session with it", async () => {
  const stage = await Stage.open();
  const before = await stage.send();
  stage.olm.wedge(bob);
  stage.olm.sessions.delete(bob.curve25519);
  stage.olm.exhausted.add(bob.curve25519);
  assertEquals((await stage.send()).session_id, before.session_id);
  assertEquals((await stage.ready()).withheld.map(({ code }) => code), ["m.no_olm"]);
  await stage.removeDevice(BOB, "BOB1");
  const after = await stage.send();
  assertEquals([stage.canRead(bob, before), stage.canRead(bob, after)], [true, false]);
});

Deno.test("another device under the name of one that has the key does not get it", async () => {
  const stage = await Stage.open();
  await stage.send();
  const other = { ...bob, curve25519: "another" };
  stage.devices.put(other);
  const event = await stage.send();
  assert(!stage.canRead(other, event));
  assertEquals((await stage.ready()).withheld.map(({ code }) => code), ["m.unauthorised"]);
});

Deno.test("devices for which the server does not take the key do not count as having it", async () => {
  const stage = await Stage.open();
  await stage.describe();
  await stage.prepare();
  stage.olm.claim();
  await stage.prepare();
  const [parcel] = stage.outbox.pending();
  assert(parcel !== undefined);
  await stage.step(async (tx) => {
    stage.outbox.remove(tx, parcel.id);
    await stage.outbound.shareFailed(tx, parcel);
  });
  const readiness = await stage.prepare();
  assert(readiness.needs === "nothing");
  assertEquals(readiness.share.shared, []);
  assertEquals(readiness.share.withheld.map(({ code }) => code), ["m.unavailable", "m.unavailable"]);
  const event = await stage.send();
  const sharedAt = () => stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(event.session_id), bob));
  assertEquals(await sharedAt(), undefined);

  await stage.clock.tick(3_600_000);
  stage.devices.put(device(ALICE, "ALICE2")); // an hour later, and when something is looked at anyway, it is tried again
  const later = await stage.send();
  assertEquals([stage.canRead(bob, event), stage.canRead(bob, later)], [false, true]);
  assertEquals(await sharedAt(), 1);
});

Deno.test("a device that may have got a key which the server refused takes the session with it", async () => {
  const stage = await Stage.open();
  await stage.describe();
  await stage.prepare();
  stage.olm.claim();
  await stage.prepare();
  for (const parcel of stage.outbox.pending()) {
    await stage.step(async (tx) => {
      stage.outbox.remove(tx, parcel.id);
      await stage.outbound.shareFailed(tx, parcel);
    });
  }
  const before = await stage.send();
  await stage.removeDevice(BOB, "BOB1");
  assertNotEquals((await stage.send()).session_id, before.session_id);
});

Deno.test("users who never got a key are approved first, if that is asked for, and then for good", async () => {
  const stage = await Stage.open({ policy: { approveRecipients: true } });
  stage.devices.put(device(ME, "OTHER"));
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "approval", users: [ALICE, BOB] });
  assertEquals(await stage.prepare({ approved: [ALICE] }), { needs: "approval", users: [BOB] });
  assertEquals(stage.received.size, 0);
  await stage.prepare({ approved: [BOB] });
  await stage.send();
  await stage.restart();
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.send();
  const carol: UserID = "@carol:example.org";
  stage.devices.put(device(carol, "CAROL1"));
  await stage.member(carol, "join");
  assertEquals(await stage.prepare(), { needs: "approval", users: [carol] });
});

Deno.test("users who got keys before approval was asked for need none", async () => {
  const stage = await Stage.open();
  await stage.send();
  stage.policy = { approveRecipients: true };
  await stage.restart();
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.send();
});

Deno.test("who had the key is known of the last sessions, and forgotten of older ones", async () => {
  const stage = await Stage.open();
  const sessions: string[] = [];
  for (let count = 0; count < 12; count++) {
    sessions.push(String((await stage.send()).session_id));
    await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  }
  const sharedAt = await stage.step((tx) =>
    Promise.all(sessions.map((sessionId) => stage.outbound.sharedAt(tx, ROOM, sessionId, bob)))
  );
  assertEquals(sharedAt.slice(-6), [0, 0, 0, 0, 0, 0]);
  assertEquals(sharedAt.slice(0, 4), [undefined, undefined, undefined, undefined]);
  const records = await stage.vault.list(["crypto", "outbound_share"]);
  assert(records.length <= 2 * 8, `${records.length} records are kept`);
});

Deno.test("only vouched-for devices get keys if so chosen", async () => {
  const stage = await Stage.open({ policy: { sendTo: "cross-signed" } });
  const bob2 = device(BOB, "BOB2", { trust: "cross-signed" });
  const bob3 = device(BOB, "BOB3", { trust: "verified" });
  stage.devices.put(bob2, bob3);
  const event = await stage.send();
  assertEquals([alice, bob, bob2, bob3].map((each) => stage.canRead(each, event)), [
    false,
    false,
    true,
    true,
  ]);
  assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.unverified"]);
});

Deno.test("only verified devices get keys if so chosen", async () => {
  const stage = await Stage.open({ policy: { sendTo: "verified" } });
  const bob2 = device(BOB, "BOB2", { trust: "cross-signed" });
  const bob3 = device(BOB, "BOB3", { trust: "verified" });
  stage.devices.put(bob2, bob3);
  const event = await stage.send();
  assertEquals([alice, bob, bob2, bob3].map((each) => stage.canRead(each, event)), [
    false,
    false,
    false,
    true,
  ]);
});

for (const sendTo of ["cross-signed", "verified"] as const) {
  Deno.test(`with ${sendTo}, an identity that changed stops all sending, by name, until it is acknowledged`, async () => {
    const stage = await Stage.open({ policy: { sendTo } });
    stage.devices.put({ ...bob, trust: "verified" });
    await stage.send();
    stage.devices.put({ ...bob, trust: "violation" });
    assertEquals(await stage.tryToSend(), undefined);
    const error = await assertRejects(() => stage.prepare(), IdentityChangedError, BOB);
    assertEquals([error.code, error.users], ["IDENTITY_CHANGED", [BOB]]);
    stage.devices.put({ ...bob, trust: "verified" });
    await stage.send();
  });
}

Deno.test("a device that is not trusted any more as it was takes the session with it", async () => {
  const stage = await Stage.open({ policy: { sendTo: "verified" } });
  stage.devices.put({ ...bob, trust: "verified" });
  const first = await stage.send();
  stage.devices.put({ ...bob, trust: "unsigned" });
  const second = await stage.send();
  assertEquals([stage.canRead(bob, first), stage.canRead(bob, second)], [true, false]);
});

Deno.test("a dehydrated device gets keys only if its user vouches for it, and no notice", async () => {
  const stage = await Stage.open();
  const dehydrated = device(BOB, "DEHYDRATED", { dehydrated: true });
  stage.devices.put(dehydrated);
  const first = await stage.send();
  assertEquals([stage.canRead(dehydrated, first), stage.noticesOf(dehydrated)], [false, []]);
  stage.devices.put({ ...dehydrated, trust: "cross-signed" });
  assert(stage.canRead(dehydrated, await stage.send()));
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
  await stage.member(carol.userId, "invite"); // what the server has said yes to is told as if it had come with a sync
  assert(stage.canRead(carol, await stage.send()));
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
  stage.devices.tracked.delete(BOB);
  stage.devices.dirtyVersion++;
  await stage.send();
  assert(stage.devices.tracked.has(BOB));
});

Deno.test("members who left while others were being asked for the list are not on it", async () => {
  const stage = await Stage.open();
  await stage.prepare();
  const asked = [...stage.room.members];
  await stage.sync([stateEvent("m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" })]);
  await stage.member(BOB, "leave");
  await stage.describe(asked);
  assert(!stage.canRead(bob, await stage.send()));
});
