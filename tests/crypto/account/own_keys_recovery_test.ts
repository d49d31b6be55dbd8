/** Own keys after crashes, and after the store was set back. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { accountKey } from "../../../src/crypto/account/own_account.ts";
import { aliceAndBob, ciphertextOf, type Peer } from "../olm/peers.ts";
import { counts, fallbackIds, fresh, oneTimeKeyIds } from "./uploads.ts";

const HOUR = 3_600_000;

Deno.test("a one-time key that the server knows as another is a clash; other failures are tried again", async () => {
  const peer = await fresh();
  const fail = (status: number, message: string) =>
    peer.step(() => peer.keys.failUpload({ status, errcode: "M_UNKNOWN", message }));
  const clash = "One time key signed_curve25519:AAAAAAAAAAA already exists. Old key: a; new key: b";
  assertEquals(await fail(400, clash), "clash");
  assertEquals(await fail(500, clash), "retry");
  assertEquals(await fail(400, "Bad JSON"), "retry");
  for (let again = 0; again < 2; again++) assertEquals(await fail(400, clash), "clash");
  assertEquals(await fail(400, clash), "retry", "a server that always says so");
  await peer.clock.tick(HOUR);
  assertEquals(await fail(400, clash), "clash");
  await peer.upload();
  assertEquals(await fail(400, clash), "retry", "nothing was uploaded that could clash");
});

Deno.test("after the store was set back, keys with IDs far beyond are uploaded, and what was there stays usable (C22)", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await alice.meet(bob);
  const underway = await alice.send(bob, { n: 1 });
  const old = await bob.snapshot();
  const lost = new Set<string>();
  for (let round = 0; round < 5; round++) {
    await counts(bob, 10);
    for (const id of oneTimeKeyIds(await bob.upload())) lost.add(id);
  }
  await bob.setBack(old);
  await counts(bob, 10);
  assert(oneTimeKeyIds(bob.keys.nextUpload()).every((id) => lost.has(id)), "these clash");
  await bob.step((tx) => bob.keys.recoverFromRollback(tx));
  const recovered = bob.keys.nextUpload();
  assertEquals(oneTimeKeyIds(recovered).length, 50);
  assertEquals(fallbackIds(recovered).length, 1);
  assert(oneTimeKeyIds(recovered).every((id) => !lost.has(id)));
  assert(fallbackIds(recovered).every((id) => !lost.has(id)));
  assertEquals(await bob.read(underway), { n: 1 });
  server.of(bob.userId, bob.deviceId).oneTimeKeys.clear();
  await bob.upload();
  assertEquals(bob.keys.nextUpload(), undefined);
});

/** The number that the ID of the first of the one-time keys stands for. */
function firstNumber(peer: Peer): number {
  const numbers = oneTimeKeyIds(peer.keys.nextUpload()).map((id) => {
    const bytes = Uint8Array.fromBase64(id.replace("signed_curve25519:", ""));
    return bytes.reduce((number, byte) => number * 256 + byte, 0);
  });
  return Math.min(...numbers);
}

Deno.test("recovering leaves out a thousand IDs the first time, and four thousand from then on", async () => {
  const peer = await fresh();
  const skipped: number[] = [];
  let next = firstNumber(peer) + 50;
  for (let round = 0; round < 3; round++) {
    await peer.step((tx) => peer.keys.recoverFromRollback(tx));
    skipped.push(firstNumber(peer) - next);
    next = firstNumber(peer) + 50;
  }
  assertEquals(skipped, [1_000, 4_000, 4_000]);
});

Deno.test("recovering twice skips further", async () => {
  const peer = await fresh();
  const ids: string[][] = [];
  for (let round = 0; round < 2; round++) {
    await peer.step((tx) => peer.keys.recoverFromRollback(tx));
    ids.push(oneTimeKeyIds(peer.keys.nextUpload()));
  }
  assert(ids[0]?.every((id) => !ids[1]?.includes(id)));
  await peer.restart();
  assertEquals(oneTimeKeyIds(peer.keys.nextUpload()), ids[1]);
});

Deno.test("a crash before the commit keeps the private half of a one-time key (C12)", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.meet(bob);
  const event = await alice.send(bob, { n: 1 });
  const { type, body } = ciphertextOf(event);
  await bob.crash((tx) => void bob.keys.account.createInbound(tx, alice.device.curve25519, { type, body }));
  assertEquals(await bob.read(event), { n: 1 });
});

Deno.test("a session takes the one-time key with it, in the same commit", async () => {
  const { alice, bob } = await aliceAndBob();
  const kept = async () => {
    const record = await bob.step((tx) => tx.get(accountKey()));
    assert(record !== undefined);
    return record;
  };
  const before = await kept();
  await alice.meet(bob);
  await bob.read(await alice.send(bob));
  assert(bob.written.includes("account") && bob.written.includes("olm-session"), bob.written.join());
  assertEquals((await kept()).oneTimeKeys.length, before.oneTimeKeys.length - 32);
  assertNotEquals((await kept()).state, before.state);
});
