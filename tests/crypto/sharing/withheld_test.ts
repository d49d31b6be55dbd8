import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import { device } from "./fakes.ts";
import { ALICE, BOB, ME, ROOM } from "./room.ts";
import { Stage } from "./stage.ts";

const alice = device(ALICE, "ALICE1"), bob = device(BOB, "BOB1");

/** The room is made ready, and the server refuses all keys. */
async function refuseKeys(stage: Stage): Promise<void> {
  await stage.describe();
  await stage.prepare();
  stage.olm.claim();
  await stage.prepare();
  for (const entry of stage.outbox.pending()) {
    await stage.step(async (tx) => {
      stage.outbox.remove(tx, entry.id);
      await stage.outbound.shareFailed(tx, entry);
    });
  }
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

Deno.test("a device without one-time keys gets one notice, without a room, and the key when there is a session", async () => {
  const stage = await Stage.open();
  stage.olm.exhausted.add(bob.curve25519);
  const first = await stage.send();
  assert(stage.olm.wanted.has(bob.curve25519), "it is requested again, but no send waits");
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

Deno.test("a device that has the key and can't be reached any more still takes the session with it", async () => {
  const stage = await Stage.open();
  const before = await stage.send();
  stage.olm.wedge(bob);
  stage.olm.open.delete(bob.curve25519);
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
  const [entry] = stage.outbox.pending();
  assert(entry !== undefined);
  await stage.step(async (tx) => {
    stage.outbox.remove(tx, entry.id);
    await stage.outbound.shareFailed(tx, entry);
  });
  const readiness = await stage.prepare();
  assert(readiness.needs === "nothing");
  assertEquals(readiness.share.shared, []);
  assertEquals(readiness.share.withheld.map(({ code }) => code), ["m.unavailable", "m.unavailable"]);
  const event = await stage.send();
  const sharedAt = () => stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(event.session_id), bob));
  assertEquals(await sharedAt(), undefined);

  await stage.clock.tick(3_600_000);
  const later = await stage.send();
  assertEquals([stage.canRead(bob, event), stage.canRead(bob, later)], [true, true]);
  assertEquals(
    await sharedAt(),
    0,
    "what the server refused may have arrived: a later key must not take its place",
  );
});

Deno.test("a key that the server refused while the clock was years ahead is offered again when it is right", async () => {
  const stage = await Stage.open();
  await stage.clock.tick(4 * 365 * 86_400_000);
  await refuseKeys(stage);
  await stage.clock.tick(-60_000); // less than an hour: the session goes on
  const event = await stage.send();
  assert(stage.canRead(bob, event));
});

Deno.test("a key that the server refused for a user's new device does not count against the old one", async () => {
  const stage = await Stage.open();
  const { session_id } = await stage.send();
  const added = device(BOB, "BOB2");
  stage.devices.put(added);
  stage.olm.begin(added);
  await stage.prepare();
  for (const entry of stage.outbox.pending()) {
    await stage.step(async (tx) => {
      stage.outbox.remove(tx, entry.id);
      await stage.outbound.shareFailed(tx, entry);
    });
  }
  const { shared, withheld } = await stage.ready();
  assertEquals(shared.map(({ deviceId }) => deviceId), ["ALICE1", "BOB1"]);
  assertEquals(withheld.map(({ device: { deviceId } }) => deviceId), ["BOB2"]);
  const at = await stage.step((tx) => stage.outbound.sharedAt(tx, ROOM, String(session_id), bob));
  assertEquals(at, 0);
});

Deno.test("a device that may have got a key which the server refused takes the session with it", async () => {
  const stage = await Stage.open();
  await refuseKeys(stage);
  const before = await stage.send();
  await stage.removeDevice(BOB, "BOB1");
  assertNotEquals((await stage.send()).session_id, before.session_id);
});

for (const [sendTo, recipients] of [["cross-signed", ["BOB2", "BOB3"]], ["verified", ["BOB3"]]] as const) {
  Deno.test(`with sendTo ${sendTo}, only such devices get keys, and others a notice`, async () => {
    const stage = await Stage.open({ policy: { sendTo } });
    const bob2 = device(BOB, "BOB2", { trust: "cross-signed" });
    const bob3 = device(BOB, "BOB3", { trust: "verified" });
    stage.devices.put(bob2, bob3);
    const event = await stage.send();
    const readers = [alice, bob, bob2, bob3].filter((each) => stage.canRead(each, event));
    assertEquals(readers.map(({ deviceId }) => deviceId), [...recipients]);
    assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.unverified"]);
  });
}

for (const sendTo of ["cross-signed", "verified"] as const) {
  Deno.test(`with ${sendTo}, an identity that was verified and changed stops all sending, by name, until it is acknowledged`, async () => {
    const stage = await Stage.open({ policy: { sendTo } });
    stage.devices.masters.set(BOB, "the identity of Bob");
    stage.devices.verified.add(BOB);
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

Deno.test("with cross-signed, an identity that was only seen and changed leaves its user out, and nobody else", async () => {
  const stage = await Stage.open({ policy: { sendTo: "cross-signed" } });
  const other = { ...alice, trust: "cross-signed" } as const;
  stage.devices.put({ ...bob, trust: "cross-signed" }, other);
  const first = await stage.send();
  stage.devices.put({ ...bob, trust: "violation" });
  const second = await stage.send();
  assertEquals([stage.canRead(bob, first), stage.canRead(bob, second)], [true, false]);
  assertEquals([stage.canRead(other, first), stage.canRead(other, second)], [true, true]);
  assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.unverified"]);
});

Deno.test("with cross-signed, own devices need no signature as long as the account has no identity", async () => {
  const stage = await Stage.open({ policy: { sendTo: "cross-signed" } });
  const other = device(ME, "OTHER");
  stage.devices.put({ ...bob, trust: "cross-signed" }, other);
  stage.devices.spared.add(ME);
  const first = await stage.send();
  stage.devices.spared.delete(ME);
  stage.devices.put(other);
  const second = await stage.send();
  assertEquals([stage.canRead(other, first), stage.canRead(other, second)], [true, false]);
  assertEquals(stage.noticesOf(other).map(({ code }) => code), ["m.unverified"]);
});

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
  const dehydrated = device(BOB, "DEHYDRATED", { isDehydrated: true });
  stage.devices.put(dehydrated);
  const first = await stage.send();
  assertEquals([stage.canRead(dehydrated, first), stage.noticesOf(dehydrated)], [false, []]);
  stage.devices.put({ ...dehydrated, trust: "cross-signed" });
  assert(stage.canRead(dehydrated, await stage.send()));
});
