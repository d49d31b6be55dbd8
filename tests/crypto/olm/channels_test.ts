/**
 * What passes between two devices: S22, S24, S30, S32, S34, and the points at which one may crash.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { JsonObject, ToDeviceEvent } from "@greenroom/matrix/types";
import { peerKey } from "../../../src/crypto/olm/olm_sessions.ts";
import { aliceAndBob, ciphertextOf, Peer } from "./peers.ts";

const HOUR = 3_600_000;

/**
 * The base key of the session a pre-key message belongs to, as a name of the session; undefined for
 * others.
 */
function sessionOf(peer: Peer, event: ToDeviceEvent): string {
  const { type, body } = ciphertextOf(event);
  assertEquals(type, 0);
  return peer.context.vodozemac.olm.readPreKeyMessage(body).sessionId;
}

Deno.test("a message is decrypted by the device that it is for, with its sender", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob, { room_id: "!r" });
  const { ciphertext: _, ...rest } = event.content;
  assertEquals(Object.keys(rest).sort(), ["algorithm", "org.matrix.msgid", "sender_key"]);
  const result = await bob.receive(event);
  assert(result.kind === "decrypted");
  const { curve25519, ed25519 } = alice.device;
  assertEquals({ ...result, device: undefined }, {
    kind: "decrypted",
    payload: { type: "m.room_key", content: { room_id: "!r" } },
    sender: "@alice:example.org",
    senderKey: curve25519,
    senderEd25519: ed25519,
    device: undefined,
    deviceKeys: JSON.parse(JSON.stringify(alice.keys.deviceKeys())),
    isNewSession: true,
  });
  assertEquals(result.device, alice.device);
});

Deno.test("the answer goes over the same session, and no key is claimed for it (S30)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  assertEquals(await bob.step((tx) => bob.olm.sessions.withoutSession(tx, [alice.device])), []);
  const answer = await bob.send(alice, { n: 2 });
  assertEquals(ciphertextOf(answer).type, 1);
  assertEquals(await alice.read(answer), { n: 2 });
  assertEquals(ciphertextOf(await alice.send(bob)).type, 1);
});

Deno.test("two hundred messages arrive in order (S24)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const events: ToDeviceEvent[] = [];
  for (let n = 0; n < 200; n++) events.push(await alice.send(bob, { n }));
  const read = await bob.step(async (tx) => {
    const contents: JsonObject[] = [];
    for (const event of events) {
      const result = await bob.olm.decrypt(tx, event);
      assert(result.kind === "decrypted");
      contents.push(result.payload.content);
    }
    return contents;
  });
  assertEquals(read, events.map((_, n) => ({ n })));
});

Deno.test("a redelivered batch is read once; what had not been committed is read then (C11, C12)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const events = [await alice.send(bob, { n: 0 }), await alice.send(bob, { n: 1 })];
  const [first, second] = events as [ToDeviceEvent, ToDeviceEvent];
  await bob.crash((tx) => bob.olm.decrypt(tx, first));
  assertEquals(await bob.read(first), { n: 0 });
  await bob.crash((tx) => bob.olm.decrypt(tx, second));
  assertEquals((await bob.receive(first)).kind, "dropped");
  assertEquals(await bob.read(second), { n: 1 });
  await bob.restart();
  for (const event of events) assertEquals((await bob.receive(event)).kind, "dropped");
});

Deno.test("the same message twice in one step is read once", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob);
  const kinds = await bob.step(async (tx) => [
    (await bob.olm.decrypt(tx, event)).kind,
    (await bob.olm.decrypt(tx, event)).kind,
  ]);
  assertEquals(kinds, ["decrypted", "dropped"]);
  assertEquals(bob.olm.claims.next(bob.clock.now()), undefined);
});

Deno.test("a step that comes to nothing gives the one-time key and the ratchet back, without a restart", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const first = await alice.send(bob, { n: 0 });
  await assertRejects(() =>
    bob.step(async (tx) => {
      await bob.olm.decrypt(tx, first);
      throw new TypeError("no");
    })
  );
  assertEquals(await bob.read(first), { n: 0 });
  const event = await alice.send(bob, { n: 1 });
  await assertRejects(() =>
    bob.step(async (tx) => {
      await bob.olm.decrypt(tx, event);
      await bob.olm.encrypt(tx, alice.device, "m.room_key", {});
      throw new TypeError("no");
    })
  );
  assertEquals(await bob.read(event), { n: 1 });
  assertEquals(await alice.read(await bob.send(alice, { n: 2 })), { n: 2 });
});

Deno.test("a used one-time key can't be used again: the second message is not read, and a new session is made (S22)", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const carol = await Peer.open({ userId: "@carol:example.org", server, clock: alice.clock });
  const [first] = server.of(bob.userId, bob.deviceId).oneTimeKeys;
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  assert(first !== undefined);
  const keys = server.of(bob.userId, bob.deviceId).oneTimeKeys;
  const others = [...keys];
  keys.clear();
  keys.set(...first);
  await carol.meet(bob);
  for (const entry of others) keys.set(...entry);
  const event = await carol.send(bob, { n: 1 });
  assertEquals((await bob.receive(event)).kind, "failed");
  await bob.claim();
  for (const dummy of await bob.sent()) assertEquals(await carol.read(dummy), {});
  assertEquals(await bob.read(await carol.send(bob, { n: 2 })), { n: 2 });
});

Deno.test("messages are read in any order within forty (S34)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const events: ToDeviceEvent[] = [];
  for (let n = 0; n < 40; n++) events.push(await alice.send(bob, { n }));
  for (const n of [39, 0, 20, ...events.keys()]) {
    const result = await bob.receive(events[n] as ToDeviceEvent);
    if (result.kind === "decrypted") assertEquals(result.payload.content, { n });
    else assert(n === 39 || n === 0 || n === 20);
    await bob.restart();
  }
});

Deno.test("both sides start a session at the same time, and agree on one (S32)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.meet(alice);
  const fromAlice = await alice.send(bob, { n: 1 });
  const fromBob = await bob.send(alice, { n: 2 });
  assertEquals(await bob.read(fromAlice), { n: 1 });
  assertEquals(await alice.read(fromBob), { n: 2 });
  for (let n = 3; n < 9; n++) {
    assertEquals(await bob.read(await alice.send(bob, { n })), { n });
    assertEquals(await alice.read(await bob.send(alice, { n })), { n });
  }
});

Deno.test("messages go out on the session that the last message came in on", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.meet(alice);
  const hers = sessionOf(bob, await alice.send(bob));
  const answer = await bob.send(alice);
  const his = sessionOf(alice, answer);
  assert(hers !== his);
  await alice.read(answer);
  assertEquals(ciphertextOf(await alice.send(bob)).type, 1, "on Bob's, which is not new to her");
});

Deno.test("a message on an older session makes it the one that is sent with again", async () => {
  const { alice, bob } = await aliceAndBob();
  const order = async () => {
    const peer = await alice.step((tx) => tx.get(peerKey(bob.device)));
    return peer?.sessions.map(({ id }) => id);
  };
  await alice.meet(bob);
  const [hers] = await order() ?? [];
  const fromAlice = await alice.send(bob);
  await bob.meet(alice);
  await alice.read(await bob.send(alice));
  const [his] = await order() ?? [];
  assertEquals(await order(), [his, hers]);
  await bob.read(fromAlice); // hers came in last at his side, and he answers on it
  await alice.read(await bob.send(alice));
  assertEquals(await order(), [hers, his]);
  await alice.restart();
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});

Deno.test("no encrypted message leaves a step that was not committed, and no index is used twice (C5)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await alice.crash((tx) => alice.olm.encrypt(tx, bob.device, "m.room_key", { n: 1 }));
  assertEquals(await bob.read(await alice.send(bob, { n: 2 })), { n: 2 });
});

Deno.test("a session that was made and not used is used after a restart (C4)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await alice.restart();
  assertEquals(alice.olm.claims.next(alice.clock.now()), undefined);
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
});

Deno.test("at most eight sessions are kept with a device, and the one that is sent with is never let go", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  const answer = await bob.send(alice);
  for (let n = 0; n < 12; n++) {
    await alice.step((tx) => alice.olm.sessions.rollback(tx)); // makes her start a new one
    await alice.meet(bob);
    assertEquals(await bob.read(await alice.send(bob, { n })), { n });
    const sessions = await Array.fromAsync(bob.store.list(["crypto", "olm-session"]));
    assert(sessions.length <= 8, String(sessions.length));
  }
  assertEquals((await alice.receive(answer)).kind, "failed", "she has let go of the first by now");
  assertEquals(await alice.read(await bob.send(alice, { n: 1 })), { n: 1 });
});

Deno.test("a message writes three small records at most, whatever came before", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  await alice.read(await bob.send(alice));
  for (let n = 0; n < 300; n++) {
    const event = await alice.send(bob, { n });
    assertEquals(alice.written, ["olm-session"]);
    await bob.read(event);
    assertEquals(bob.written.toSorted(), ["olm-seen", "olm-session"]);
  }
  const segments = await Array.fromAsync(bob.store.list(["crypto", "olm-seen"]));
  assert(segments.length <= 4);
});

Deno.test("a device gets one notice that there is no session, until there was one", async () => {
  const { alice, bob } = await aliceAndBob();
  const should = () => alice.step((tx) => alice.olm.sessions.shouldTellNoOlm(tx, bob.device));
  assert(await should());
  await alice.step((tx) => alice.olm.sessions.note(tx, bob.device, { toldNoOlm: true }));
  await alice.restart();
  assert(!await should());
  await alice.meet(bob);
  assert(await should());
});

Deno.test("an unknown device can send room keys, with its own device keys (S62)", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await alice.meet(bob);
  server.hidden.add("ALICE");
  const result = await bob.receive(await alice.send(bob, { n: 1 }));
  assert(result.kind === "decrypted");
  assertEquals(result.device, undefined);
  assertEquals(result.deviceKeys, JSON.parse(JSON.stringify(alice.keys.deviceKeys())));
  const other = await bob.receive(await alice.send(bob, {}, "m.forwarded_room_key"));
  assertEquals(other, { kind: "dropped", reason: "its device is not known" });
  server.hidden.clear();
  const known = await bob.receive(await alice.send(bob, {}, "m.forwarded_room_key"));
  assertEquals(known.kind, "decrypted");
});

Deno.test("nothing is taken from a dehydrated device", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob);
  const keys = server.of(alice.userId, alice.deviceId);
  keys.keys = { ...alice.keys.deviceKeys(), dehydrated: true };
  assertEquals((await bob.receive(event)).kind, "dropped");
});

Deno.test("after the wasm instance was exchanged, everything is made of the records", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  bob.keys.clear();
  bob.olm.sessions.clear();
  assertEquals(await bob.read(await alice.send(bob, { n: 1 })), { n: 1 });
  assertEquals(await alice.read(await bob.send(alice, { n: 2 })), { n: 2 });
  assert(bob.clock.now() < Date.UTC(2025, 0, 1) + HOUR);
});
