/** How two devices that have lost each other find together again: S31, S33, and an own store that was set back. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "../../../src/store/memory_store.ts";
import { aliceAndBob, type Peer } from "./peers.ts";

for (const loser of ["sender", "receiver"] as const) {
  Deno.test(`a wedge heals with a dummy when the ${loser} has lost its sessions (S31)`, async () => {
    const { alice, bob } = await aliceAndBob();
    await alice.meet(bob);
    await bob.read(await alice.send(bob));
    await alice.read(await bob.send(alice));
    const before = await alice.step((tx) => alice.olm.wedgingIndex(tx, bob.device));
    // Whoever loses its sessions keeps its account.
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
      assert(
        await alice.step((tx) => alice.olm.wedgingIndex(tx, bob.device)) > before,
        "keys are shared again",
      );
    } else {
      await lose(alice);
      assertEquals((await alice.step((tx) => alice.olm.withoutSession(tx, [bob.device]))).length, 1);
      await alice.meet(bob);
    }
    assertEquals(await bob.read(await alice.send(bob, { n: 2 })), { n: 2 });
    assertEquals(await alice.read(await bob.send(alice, { n: 3 })), { n: 3 });
  });
}

Deno.test("a peer whose store was set back heals, once it hears of it (S33)", async () => {
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
  await alice.step((tx) => alice.olm.rollback(tx));
  await alice.restart();
  assertEquals(await alice.step((tx) => alice.olm.withoutSession(tx, [bob.device])), [bob.device]);
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
      await alice.olm.rollback(tx);
      throw new TypeError("no");
    })
  );
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});
