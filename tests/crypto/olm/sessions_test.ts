/**
 * Which session is sent with when one of them can't be, and what is remembered of those that are
 * let go.
 */

import { type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  OlmSessions,
  PEER_KIND,
  peerKey,
  type SessionEntry,
  sessionKey,
} from "../../../src/crypto/olm/olm_sessions.ts";
import { testContext } from "../support/context.ts";
import { memoryVault, step } from "../support/vault.ts";
import { aliceAndBob, garbled, type Peer } from "./peers.ts";

const PEER = { userId: "@alice:example.org", curve25519: "A".repeat(43) } as const;

/**
 * Has something encrypted with sessions of which the first one fails over it; gives which was used,
 * and which are there.
 */
async function encrypt(error: unknown) {
  const restoreSession = (state: Uint8Array) => ({
    encrypt() {
      if (state[0] === 0) throw error;
      return { type: 1, body: state };
    },
    state: () => state,
    [Symbol.dispose]() {},
  });
  const vodozemac = { olm: { restoreSession } } as unknown as Vodozemac;
  const sessions = new OlmSessions({ ...testContext(), vodozemac });
  const vault = memoryVault();
  const entries = ["zero", "one", "two"].map((id): SessionEntry => ({ id, generation: 0, inbound: false }));
  await step(vault, (tx) => {
    tx.set(peerKey(PEER), { sessions: entries, wedgingIndex: 0, notedAt: 0 });
    for (const [index, { id }] of entries.entries()) tx.set(sessionKey(PEER, id), Uint8Array.of(index));
  });
  const message = await step(vault, (tx) => sessions.encrypt(tx, PEER, "{}"));
  const record = await step(vault, (tx) => sessions.peer(tx, PEER));
  return { used: message?.body[0], broken: record.sessions.map(({ broken }) => broken ?? false), sessions };
}

Deno.test("a session whose key makes no secret is no longer used; the next one is, and no other is dropped", async () => {
  const { used, broken, sessions } = await encrypt(new VodozemacError("non_contributory_key", "encrypt"));
  assertEquals([used, broken], [1, [true, false, false]]);
  assertEquals(
    [...sessions.changes.since(0) ?? []],
    [PEER.userId],
    "its change is reported for sharing keys",
  );
});

Deno.test("other errors during the encryption of a message do not drop the session, and are thrown", async () => {
  await assertRejects(() => encrypt(new VodozemacError("instance_dead", "encrypt")), VodozemacError);
  const other = Object.assign(new RangeError("no"), { code: "non_contributory_key" });
  await assertRejects(() => encrypt(other), RangeError);
});

/** Takes the states of all sessions away, as a damaged store may. */
async function loseStates(peer: Peer): Promise<void> {
  const store = await peer.snapshot();
  const states = await Array.fromAsync(store.list(["crypto", "olm-session"]));
  await store.commit(states.map(({ key }) => ({ type: "delete", key })));
  await peer.setBack(store);
}

Deno.test("a session whose state is lost is not used, and another is made in its place", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  await loseStates(alice);
  assertEquals(await alice.step((tx) => alice.olm.encrypt(tx, bob.device, "m.room_key", {})), undefined);
  assertEquals(await alice.step((tx) => alice.olm.sessions.withoutSession(tx, [bob.device])), [bob.device]);
  await alice.meet(bob);
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});

Deno.test("a message on a session whose state is lost, whether it could begin one or not, can't be decrypted, and a new session is made", async () => {
  for (const type of [0, 1]) {
    const { alice, bob } = await aliceAndBob();
    await bob.meet(alice);
    await alice.read(await bob.send(alice));
    if (type === 1) await bob.read(await alice.send(bob));
    await loseStates(alice);
    assertEquals((await alice.receive(await bob.send(alice))).kind, "failed");
    await alice.claim();
    for (const dummy of await alice.sent()) assertEquals(await bob.read(dummy), {});
    assertEquals(await alice.read(await bob.send(alice, { n: 1 })), { n: 1 });
  }
});

Deno.test("a session that this device begins in place of one that was not answered is a sign of one loss", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await alice.send(bob); // and Bob never gets it
  await bob.meet(alice);
  assertEquals((await alice.receive(garbled(await bob.send(alice)))).kind, "failed");
  await alice.claim();
  assertEquals(await alice.step((tx) => alice.olm.sessions.wedgingIndex(tx, bob.device)), 1);
});

Deno.test("a session that is made with a device that could be understood is no sign of a loss", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  assertEquals(await alice.step((tx) => alice.olm.sessions.wedgingIndex(tx, bob.device)), 0);
  assertEquals(await alice.sent(), [], "and needs no greeting");
});

Deno.test("an instance that has died while a session was begun says nothing of the device's key", async () => {
  const { alice, bob, clock } = await aliceAndBob();
  await alice.step((tx) => alice.olm.claims.want(tx, [bob.device]));
  const { createOutbound } = alice.keys.account;
  alice.keys.account.createOutbound = () => {
    throw new VodozemacError("instance_dead", "createOutbound");
  };
  await assertRejects(() => alice.claim(), VodozemacError);
  alice.keys.account.createOutbound = createOutbound;
  assert(alice.olm.claims.isPromising(bob.device, clock.now()));
  assertEquals((await alice.claim())?.established, [bob.device]);
});

Deno.test("the IDs of removed sessions are kept only of those that the other device began", async () => {
  for (const begins of ["alice", "bob"] as const) {
    const { alice, bob } = await aliceAndBob();
    const { userId } = bob;
    const { curve25519 } = bob.device;
    if (begins === "alice") await alice.meet(bob);
    else {
      await bob.meet(alice);
      await alice.read(await bob.send(alice));
    }
    const [record] = (await Array.fromAsync(alice.store.list(["crypto", PEER_KIND]))).map(({ value }) =>
      value
    );
    const sessions = new OlmSessions(alice.context);
    await alice.step((tx) => sessions.forget(tx, { userId, curve25519 }, record as never));
    const gone = await Array.fromAsync(alice.store.list(["crypto", "olm-gone"]));
    assertEquals(gone.length, begins === "alice" ? 0 : 1);
    assert((await Array.fromAsync(alice.store.list(["crypto", "olm-session"]))).length === 0);
  }
});
