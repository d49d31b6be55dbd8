/** What is kept of devices with which there were Olm sessions. */

import { assert, assertEquals } from "@std/assert";
import { aliceAndBob, ciphertextOf, garbled, Peer } from "../olm/peers.ts";
import { DAY, HOUR, isRead, keysWith, recordsByKind } from "./records.ts";

const UNUSED = ["signed_curve25519"];

/** The days go by, with a sync each; the fallback key is replaced weekly. */
async function live(peer: Peer, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    await peer.clock.tick(DAY);
    await peer.step((tx) => peer.keys.receiveCounts(tx, { signed_curve25519: 50 }, UNUSED));
    await peer.upload();
  }
}

/** Looks at what is kept of Alice. */
function tidy(bob: Peer, alice: Peer): Promise<string> {
  return bob.step((tx) => bob.olm.housekeeping.pruneUser(tx, alice.userId, 30));
}

/** Bob has read a message of Alice, whom he can only be reached by with his fallback key. */
async function met() {
  const { alice, bob, server, clock } = await aliceAndBob();
  server.of(bob.userId, bob.deviceId).oneTimeKeys.clear();
  await alice.meet(bob);
  const first = await alice.send(bob);
  await bob.read(first);
  await bob.read(await alice.send(bob));
  return { alice, bob, server, clock, first };
}

Deno.test("sessions with a device that is gone are kept for a month after its last message", async () => {
  const { alice, bob, server } = await met();
  server.hidden.add(alice.deviceId);
  await live(bob, 20);
  await bob.read(await alice.send(bob));
  await live(bob, 29);
  assertEquals(await tidy(bob, alice), "later");
  await bob.read(await alice.send(bob));
});

Deno.test("a session with a device that is gone, and never answered, is kept for a month after it began", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await bob.meet(alice);
  await bob.send(alice);
  server.hidden.add(alice.deviceId);
  await live(bob, 29);
  assertEquals(await tidy(bob, alice), "later");
  assertEquals((await recordsByKind(bob.store))["olm-session"], 1);
  await live(bob, 2);
  await tidy(bob, alice);
  assertEquals((await recordsByKind(bob.store))["olm-session"], undefined);
});

Deno.test("the records of a device that is gone are removed when a month has passed and its keys are of no use", async () => {
  const { alice, bob, server } = await met();
  assert((await keysWith(bob.store, alice.device.curve25519)).length >= 3);
  server.hidden.add(alice.deviceId);
  await live(bob, 31);
  assertEquals(await tidy(bob, alice), "done");
  assertEquals(await keysWith(bob.store, alice.device.curve25519), []);
});

Deno.test("a message of a device of which nothing is kept is not read a second time, also after a restart", async () => {
  const { alice, bob, server, first } = await met();
  const last = await alice.send(bob);
  await bob.read(last);
  server.hidden.add(alice.deviceId);
  await live(bob, 31);
  await tidy(bob, alice);
  for (const event of [first, last]) assert(!isRead(await bob.receive(event)));
  server.hidden.delete(alice.deviceId);
  await bob.restart();
  for (const event of [first, last]) assert(!isRead(await bob.receive(event)));
});

Deno.test("as long as the key is there by which it began a session, it is kept what messages came", async () => {
  const { alice, bob, server, first } = await met();
  server.hidden.add(alice.deviceId);
  await bob.clock.tick(31 * DAY); // no sync: the fallback key is the same
  assertEquals(await tidy(bob, alice), "later");
  const kept = await recordsByKind(bob.store);
  assertEquals(kept["olm-session"], undefined, "sessions are large, and go");
  assertEquals(kept["olm-gone"], 1);
  assertEquals(await bob.receive(first), { kind: "dropped", reason: "it was here before" });
  const { type, body } = ciphertextOf(first);
  const bytes = [...Uint8Array.fromBase64(body), 0x78, 0x01];
  const rewrapped = structuredClone(first);
  (rewrapped.content.ciphertext as Record<string, unknown>)[bob.keys.own.curve25519] = {
    type,
    body: Uint8Array.from(bytes).toBase64({ omitPadding: true }),
  };
  assertEquals(await bob.receive(rewrapped), { kind: "dropped", reason: "its session was given up" });
  await live(bob, 60);
  assertEquals(await tidy(bob, alice), "done");
  assertEquals(await keysWith(bob.store, alice.device.curve25519), []);
  assert(!isRead(await bob.receive(first)));
});

Deno.test("sessions with a device that is there stay, and the one that is sent with is the same after a year", async () => {
  const { alice, bob } = await met();
  const before = await keysWith(bob.store, alice.device.curve25519);
  await live(bob, 365);
  assertEquals(await tidy(bob, alice), "done");
  assertEquals(await keysWith(bob.store, alice.device.curve25519), before);
  await alice.read(await bob.send(alice));
  await bob.read(await alice.send(bob));
});

Deno.test("a fallback key counts as long as its private half is there, also when the server has another", async () => {
  const { bob } = await met();
  const first = bob.keys.oldestFallbackSince();
  assertEquals(first, bob.clock.now());
  await live(bob, 7);
  assertEquals(bob.keys.oldestFallbackSince(), first);
  await live(bob, 1);
  assertEquals(bob.keys.oldestFallbackSince(), (first ?? 0) + 7 * DAY);
});

Deno.test("the records of a user's many devices are removed in bounded steps", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const devices: Peer[] = [];
  for (let n = 0; n < 90; n++) {
    const device = await Peer.open({ userId: alice.userId, deviceId: `D${n}`, server, clock: bob.clock });
    devices.push(device);
    await device.meet(bob);
    await bob.read(await device.send(bob));
  }
  for (const { deviceId } of devices) server.hidden.add(deviceId);
  await live(bob, 38);
  for (let steps = 1, outcome = "more"; outcome === "more"; steps++) {
    outcome = await bob.step(async (tx) => {
      const result = await bob.olm.housekeeping.pruneUser(tx, alice.userId, 30);
      assert(tx.changes <= 320, `${tx.changes} at once`);
      return result;
    });
    if (outcome !== "more") assert(steps > 1);
  }
  assertEquals((await recordsByKind(bob.store))["olm-peer"], undefined);
});

Deno.test("a look at old records does not let a device that can't be understood be asked for sessions more often", async () => {
  const { alice, bob } = await met();
  const event = garbled(await alice.send(bob));
  await bob.receive(event);
  assert(await bob.claim() !== undefined);
  await bob.clock.tick(HOUR / 2);
  await tidy(bob, alice);
  await bob.receive(garbled(await alice.send(bob)));
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined);
});

Deno.test("a clock that was ahead removes nothing early", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await bob.clock.tick(1_000 * DAY);
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  server.hidden.add(alice.deviceId);
  await bob.clock.tick(-990 * DAY);
  assertEquals(await tidy(bob, alice), "later");
  assertEquals((await recordsByKind(bob.store))["olm-session"], 1);
});

Deno.test("no session is requested with a device that is gone", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const carol = await Peer.open({
    userId: "@carol:example.org",
    deviceId: "CAROL",
    server,
    clock: bob.clock,
  });
  await bob.step((tx) => bob.olm.claims.want(tx, [alice.device, carol.device]));
  server.hidden.add(carol.deviceId);
  const { housekeeping } = bob.olm;
  for (const each of housekeeping.wanted()) await bob.step((tx) => housekeeping.pruneWanted(tx, each));
  assertEquals(housekeeping.wanted().map(({ userId }) => userId), [alice.userId]);
  assertEquals((await recordsByKind(bob.store))["olm-wanted"], 1);
});
