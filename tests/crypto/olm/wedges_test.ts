/**
 * How two devices that have lost each other find together again: S31, S33, and an own store that
 * was set back.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MISUNDERSTOOD_DEVICES } from "../../../src/crypto/records/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import type { JsonObject } from "@greenroom/matrix/types";
import { aliceAndBob, garbled, type Peer } from "./peers.ts";

/** How often a device may have lost what it was sent, as far as the other sees. */
function losses(alice: Peer, bob: Peer): Promise<number> {
  return alice.step((tx) => alice.olm.sessions.wedgingIndex(tx, bob.device));
}

/** Has a device begin a new session in place of the one that there is. */
async function beginAnew(bob: Peer, alice: Peer): Promise<void> {
  await bob.step((tx) => bob.olm.sessions.rollback(tx));
  await bob.meet(alice);
}

Deno.test("a session that a device begins is no sign of a loss if it is the first, or if it has used the one before", async () => {
  const { alice, bob } = await aliceAndBob();
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  for (let times = 0; times < 3; times++) {
    await bob.read(await alice.send(bob));
    await beginAnew(bob, alice);
    await alice.read(await bob.send(alice));
  }
  assertEquals(await losses(alice, bob), 0);
});

Deno.test("a session that a device begins without having used that of this device is a sign of a loss, once", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await alice.send(bob); // and Bob never gets it, or has written before
  for (let times = 0; times < 3; times++) {
    await beginAnew(bob, alice);
    await alice.read(await bob.send(alice));
    await alice.restart();
    assertEquals(await losses(alice, bob), 1);
  }
});

Deno.test("a new session in place of one with which a device could not be understood is a sign of a loss, when it is there", async () => {
  const { alice, bob } = await aliceAndBob();
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  assertEquals(await losses(alice, bob), 0, "keys would be sent over the session that is not understood");
  await alice.claim();
  assertEquals(await losses(alice, bob), 1);
});

Deno.test("no new session is begun with a device that is blocked, when it can't be understood", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  server.blacklisted.add("BOB");
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  assertEquals([await alice.claim(), await alice.sent()], [undefined, []]);
  server.blacklisted.clear(); // and it is not held against it later
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  await alice.claim();
  assertEquals((await alice.sent()).length, 1);
});

Deno.test("a device that says again and again that it has lost its sessions is heeded ten times an hour", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await bob.meet(alice);
  for (const expected of [10, 20]) {
    for (let times = 0; times < 30; times++) await alice.read(await bob.send(alice, {}, "m.dummy"));
    assertEquals(await losses(alice, bob), expected);
    await clock.tick(3_600_000);
  }
});

for (const loser of ["sender", "receiver"] as const) {
  Deno.test(`a wedge heals with a dummy when the ${loser} has lost its sessions (S31)`, async () => {
    const { alice, bob } = await aliceAndBob();
    await alice.meet(bob);
    await bob.read(await alice.send(bob));
    await alice.read(await bob.send(alice));
    const before = await losses(alice, bob);
    // A device that loses its sessions keeps its account.
    const lose = async (peer: Peer) => {
      const entries = (await Array.fromAsync(peer.store.list([]))).filter(({ key }) =>
        !key[1]?.startsWith("olm")
      );
      const store = new MemoryStore();
      await store.commit(entries.map(({ key, value }) => ({ type: "set", key, value })));
      await peer.setBack(store);
    };
    if (loser === "receiver") {
      await lose(bob);
      const lost = await bob.receive(await alice.send(bob, { n: 1 }));
      assertEquals(lost.kind, "failed");
      await bob.claim();
      const [dummy] = await bob.sent();
      assert(dummy !== undefined);
      const result = await alice.receive(dummy);
      assert(result.kind === "decrypted" && result.isNewSession);
      assertEquals(result.payload, { type: "m.dummy", content: {} });
      assertEquals(await losses(alice, bob), before + 1, "keys are shared again");
    } else {
      await lose(alice);
      assertEquals((await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device]))).length, 1);
      await alice.meet(bob);
    }
    assertEquals(await bob.read(await alice.send(bob, { n: 2 })), { n: 2 });
    assertEquals(await alice.read(await bob.send(alice, { n: 3 })), { n: 3 });
  });
}

Deno.test("a peer whose store was set back gets a new session once it receives the notice (S33)", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  await alice.read(await bob.send(alice));
  const old = await alice.snapshot();
  for (let n = 0; n < 3; n++) await bob.read(await alice.send(bob, { n }));
  await alice.setBack(old);
  const again = await alice.send(bob, { n: 9 });
  const result = await bob.receive(again);
  assertEquals(result.kind, "failed");
  assertEquals("device" in result && result.device, alice.device);
  await bob.claim();
  for (const dummy of await bob.sent()) assertEquals(await alice.read(dummy), {});
  assertEquals(await bob.read(await alice.send(bob, { n: 10 })), { n: 10 });
  assert(clock.now() > 0);
});

Deno.test("the own store was set back: no session that there was is sent with, but all are still read (C22)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  await alice.step((tx) => alice.olm.sessions.rollback(tx));
  await alice.restart();
  assertEquals(await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device])), [bob.device]);
  assertEquals(await alice.step((tx) => alice.olm.encrypt(tx, bob.device, "m.room_key", {})), undefined);
  assertEquals(await alice.read(await bob.send(alice, { n: 1 })), { n: 1 });
  assertEquals(await alice.step((tx) => alice.olm.encrypt(tx, bob.device, "m.room_key", {})), undefined);
  await alice.meet(bob);
  assertEquals(await bob.read(await alice.send(bob, { n: 2 })), { n: 2 });
});

Deno.test("a rollback that is not committed retires nothing", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await assertRejects(() =>
    alice.step(async (tx) => {
      await alice.olm.sessions.rollback(tx);
      throw new TypeError("no");
    })
  );
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});

Deno.test("a device that could not be understood before it was known gets a new session once it is", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  server.hidden.add("BOB");
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  assertEquals(await alice.claim(), undefined);
  await alice.restart();
  await alice.step((tx) => alice.olm.devicesChanged(tx, ["@bob:example.org"]));
  assertEquals(await alice.claim(), undefined, "it is not known yet");
  server.hidden.clear();
  await alice.step((tx) => alice.olm.devicesChanged(tx, ["@carol:example.org"]));
  assertEquals(await alice.claim(), undefined, "nobody has told of it");
  await alice.step((tx) => alice.olm.devicesChanged(tx, ["@bob:example.org"]));
  await alice.claim();
  const [dummy] = await alice.sent();
  assert(dummy !== undefined);
  const result = await bob.receive(dummy);
  assert(result.kind === "decrypted" && result.isNewSession);
  await alice.step((tx) => alice.olm.devicesChanged(tx, ["@bob:example.org"]));
  assertEquals(await alice.claim(), undefined, "once");
});

Deno.test("unknown devices that can't be understood are bounded, and those of one user do not crowd out others", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  server.hidden.add("BOB");
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  const made = garbled(await bob.send(alice));
  for (let n = 0; n < MISUNDERSTOOD_DEVICES + 10; n++) {
    const senderKey = btoa(String(n).padStart(32, "k")).slice(0, 43);
    const ciphertext = Object.fromEntries(
      Object.entries(made.content.ciphertext as JsonObject).map((
        [key, value],
      ) => [key, { ...value as object, type: 1 }]),
    );
    const content = { ...made.content, ciphertext, sender_key: senderKey };
    await alice.receive({ ...made, sender: "@mallory:example.org", content });
  }
  const kept = (await Array.fromAsync(alice.store.list([]))).filter(({ key }) =>
    key.includes("olm_misunderstood")
  );
  assertEquals(kept.length, MISUNDERSTOOD_DEVICES);
  server.hidden.clear();
  await alice.step((tx) => alice.olm.devicesChanged(tx, ["@bob:example.org"]));
  await alice.claim();
  assertEquals((await alice.sent()).length, 1);
});
