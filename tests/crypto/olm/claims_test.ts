/** How one-time keys are claimed. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type DeviceRef, isAnswered, unreachableServers } from "../../../src/crypto/olm/olm_claims.ts";
import { OlmClaims } from "../../../src/crypto/olm/olm.ts";
import type { CryptoDevice, DeviceID, JsonObject } from "@greenroom/matrix/types";
import { turnsDuring } from "../support/turns.ts";
import { memoryVault, step } from "../support/vault.ts";
import { aliceAndBob, garbled } from "./peers.ts";
import { claims, namesIn } from "./wanted_devices.ts";

const MINUTE = 60_000;

Deno.test("a claim names at most 250 devices, and no device is in two claims at a time", async () => {
  const { made, devices } = await claims(600);
  const all = [made.next(0), made.next(0), made.next(0)];
  assertEquals(all.map((claim) => namesIn(claim).length), [250, 250, 100]);
  assertEquals(new Set(all.flatMap(namesIn)).size, devices.length);
  assertEquals(made.next(0), undefined);
  assertEquals(all[0]?.oneTimeKeys["@u0:s0"]?.D0, "signed_curve25519");
});

Deno.test("a device that can't be understood stays known as that, whatever else needs a session with it", async () => {
  let names = 0;
  const vault = memoryVault();
  const made = new OlmClaims({ server: { answers: 0 }, uniqueId: () => String(++names) });
  const bob: DeviceRef = { userId: "@bob:example.org", deviceId: "BOB" };
  const wedged: boolean[] = [];
  for (const options of [undefined, { wedged: true }, undefined]) {
    await step(vault, (tx) => made.want(tx, [bob], options));
    wedged.push(await step(vault, (tx) => made.isWedged(tx, bob)));
  }
  assertEquals(wedged, [false, true, true]);
});

Deno.test("other work goes on while the answer to a claim of many devices is received", async () => {
  const { alice } = await aliceAndBob();
  const devices = Array.from(
    { length: 250 },
    (_, n): DeviceRef => ({ userId: "@carol:example.org", deviceId: `${n}` }),
  );
  await alice.step((tx) => alice.olm.claims.want(tx, devices));
  const claim = alice.olm.claims.next(0);
  assert(claim !== undefined);
  const turns = await turnsDuring(() => alice.step((tx) => alice.olm.handshakes.receive(tx, claim, {})));
  assert(turns >= 15, `${turns}`);
});

Deno.test("devices may have any name", async () => {
  let names = 0;
  const vault = memoryVault();
  const made = new OlmClaims({ server: { answers: 0 }, uniqueId: () => String(++names) });
  const deviceId: DeviceID = "__proto__";
  await step(vault, (tx) => made.want(tx, [{ userId: "@a:b", deviceId }]));
  assertEquals(namesIn(made.next(0)), ["__proto__"]);
});

Deno.test("a wanted session stays wanted over a restart, until there is one (C3)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const claim = alice.olm.claims.next(0);
  assert(claim !== undefined);
  const response = alice.server.claim(claim);
  await assertRejects(() =>
    alice.step(async (tx) => {
      await alice.olm.handshakes.receive(tx, claim, response);
      throw new TypeError("no");
    })
  );
  const again = alice.olm.claims.next(0);
  assertEquals(namesIn(again), ["BOB"], "the step came to nothing");
  await alice.crash((tx) => alice.olm.handshakes.receive(tx, claim, response));
  assertEquals(await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device])), [bob.device]);
  const outcome = await alice.claim();
  assertEquals(outcome, { established: [bob.device], exhausted: [] });
  await alice.restart();
  assertEquals(alice.olm.claims.next(0), undefined);
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});

Deno.test("a device without keys is not waited for, and asked again more and more seldom", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  const published = server.of(bob.userId, bob.deviceId);
  const { fallback } = published;
  published.oneTimeKeys.clear();
  published.fallback = undefined;
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  assert(alice.olm.claims.isPromising(bob.device, clock.now()));
  assertEquals(await alice.claim(), { established: [], exhausted: [bob.device] });
  assert(!alice.olm.claims.isPromising(bob.device, clock.now()));
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  assertEquals(alice.olm.claims.next(clock.now()), undefined);
  await clock.tick(5_000);
  assertEquals((await alice.claim())?.exhausted, [bob.device]);
  await clock.tick(5_000);
  assertEquals(alice.olm.claims.next(clock.now()), undefined, "twice as long the second time");
  await clock.tick(5_000);
  published.fallback = fallback;
  assertEquals((await alice.claim())?.established, [bob.device]);
  assert(alice.olm.claims.isPromising(bob.device, clock.now()));
});

Deno.test("a device that has no keys for an hour is given up, until it is wanted again", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  server.of(bob.userId, bob.deviceId).oneTimeKeys.clear();
  server.of(bob.userId, bob.deviceId).fallback = undefined;
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  let claims = 0;
  for (let minute = 0; minute < 180; minute++, await clock.tick(MINUTE)) {
    if (await alice.claim() !== undefined) claims++;
  }
  assert(claims > 8 && claims <= 12, String(claims));
  await alice.restart();
  assertEquals(alice.olm.claims.next(clock.now()), undefined);
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  assertEquals((await alice.claim())?.exhausted, [bob.device]);
});

Deno.test("the version changes when a device can be reached, or may have lost what it was sent, and with nothing else", async () => {
  const { alice, bob } = await aliceAndBob();
  let before = alice.olm.sessions.changes.version;
  const changed = () => before !== (before = alice.olm.sessions.changes.version);
  await alice.meet(bob);
  assert(changed(), "claimed");
  await bob.read(await alice.send(bob));
  await alice.read(await bob.send(alice));
  assert(!changed(), "used");
  await bob.step((tx) => bob.olm.sessions.rollback(tx));
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  assert(!changed(), "started by the other, who had one");
  await alice.read(await bob.send(alice, {}, "m.dummy"));
  assert(changed(), "the other did not understand");
  await alice.step((tx) => alice.olm.sessions.rollback(tx));
  assert(changed(), "given up");
});

Deno.test("a server that can't be reached is left alone for a while, and its devices stay wanted (S29)", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const down = { one_time_keys: {}, failures: { "example.org": {}, "other.org": {} } };
  assertEquals((await alice.claim(() => down))?.exhausted, [bob.device]);
  assert(!alice.olm.claims.isPromising(bob.device, clock.now()));
  assertEquals(alice.olm.claims.next(clock.now()), undefined);
  await clock.tick(MINUTE);
  assertEquals((await alice.claim())?.established, [bob.device]);
});

/** How often a device is asked for in three hours that each bring the same answer. */
async function claimsInThreeHours(change: (response: JsonObject) => JsonObject): Promise<number> {
  const { alice, bob, clock } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  let claims = 0;
  for (let minute = 0; minute < 180; minute++, await clock.tick(MINUTE)) {
    if (await alice.claim(change) !== undefined) claims++;
  }
  return claims;
}

Deno.test("a device is given up only because of what its server answers, not because that can't be reached", async () => {
  const down = { "example.org": {} };
  const junk = { "@bob:example.org": { BOB: { "signed_curve25519:A": { key: "junk" } } } };
  assert(await claimsInThreeHours(() => ({ one_time_keys: {}, failures: down })) > 12);
  assertEquals(await claimsInThreeHours(() => ({ one_time_keys: junk, failures: down })), 12);
});

Deno.test("a device that has the name of what every object has is not answered by that", () => {
  const bob = "@bob:example.org";
  for (const deviceId of ["__proto__", "constructor"]) {
    assert(!isAnswered({ one_time_keys: { [bob]: {} } }, { userId: bob, deviceId }));
  }
});

Deno.test("only the first 10,000 unreachable servers of an answer count", () => {
  const failures = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`s${index}.org`, {}]));
  const asked = new Set(["s9999.org", "s10000.org"]);
  assertEquals(unreachableServers({ failures }, asked), ["s9999.org"]);
});

Deno.test("a server that was not asked is not left alone, whatever the answer says of it", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const elsewhere: CryptoDevice = { ...bob.device, userId: "@carol:other.org" };
  await alice.claim((response) => ({ ...response, failures: { "other.org": {} } }));
  assert(alice.olm.claims.isPromising(elsewhere, clock.now()));
});

Deno.test("a session that came meanwhile makes the claimed one needless", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const claim = alice.olm.claims.next(0);
  assert(claim !== undefined);
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  const response = alice.server.claim(claim);
  const outcome = await alice.step((tx) => alice.olm.handshakes.receive(tx, claim, response));
  assertEquals(outcome.established, [bob.device]);
  assertEquals((await Array.fromAsync(alice.store.list(["crypto", "olm-session"]))).length, 1);
});

Deno.test("a message that starts a session makes a claim needless", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  assertEquals(alice.olm.claims.next(0), undefined);
});

Deno.test("a message over a session that was there leaves a claim as it is: what can't be understood still can't", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  await alice.read(await bob.send(alice));
  assertEquals(namesIn(alice.olm.claims.next(clock.now())), ["BOB"]);
});

Deno.test("a device that is gone is not asked for again", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  server.hidden.add("BOB");
  assertEquals(await alice.claim(), { established: [], exhausted: [] });
  await alice.restart();
  assertEquals(alice.olm.claims.next(0), undefined);
});

Deno.test("the time of the last new session is kept before the claim: no storm after a restart (C15)", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await bob.meet(alice);
  const wedge = async () =>
    assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  await wedge();
  await alice.restart();
  const claim = alice.olm.claims.next(clock.now());
  assertEquals(namesIn(claim), ["BOB"], "the claim itself is not lost");
  assert(claim !== undefined);
  await alice.step((tx) => alice.olm.handshakes.receive(tx, claim, alice.server.claim(claim)));
  await alice.restart();
  await wedge();
  assertEquals(alice.olm.claims.next(clock.now()), undefined);
  await clock.tick(60 * MINUTE);
  await wedge();
  assertEquals(namesIn(alice.olm.claims.next(clock.now())), ["BOB"]);
});

Deno.test("a wedged device without keys is asked for again by itself", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  await bob.meet(alice);
  const published = server.of(bob.userId, bob.deviceId);
  const { fallback } = published;
  published.oneTimeKeys.clear();
  published.fallback = undefined;
  await alice.receive(garbled(await bob.send(alice)));
  assertEquals((await alice.claim())?.exhausted, [bob.device]);
  assertEquals(await alice.sent(), []);
  await alice.restart();
  published.fallback = fallback;
  assertEquals((await alice.claim())?.established, [bob.device]);
  for (const dummy of await alice.sent()) assertEquals(await bob.read(dummy), {});
  assertEquals(alice.olm.claims.next(clock.now()), undefined);
});
