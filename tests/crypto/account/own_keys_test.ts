import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { accountKey, type AccountRecord } from "../../../src/crypto/account/own_account.ts";
import { verifySignedJson } from "../../../src/crypto/encoding/encoding.ts";
import { EncryptionError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { aliceAndBob, Peer } from "../olm/peers.ts";
import { counts, fallbackIds, fresh, oneTimeKeyIds, USER } from "./uploads.ts";

const HOUR = 3_600_000;
Deno.test("the first upload brings identity keys, fifty one-time keys and a fallback key, all signed", async () => {
  const peer = await fresh();
  const request = peer.keys.nextUpload();
  assertEquals(oneTimeKeyIds(request).length, 50);
  assertEquals(fallbackIds(request).length, 1);
  assertEquals(request?.device_keys, peer.keys.deviceKeys());
  const vodozemac = await Vodozemac.load();
  const signer = { userId: USER.userId, keyId: "ed25519:ALICE", publicKey: peer.keys.own.ed25519 };
  for (const [id, key] of Object.entries({ ...request?.one_time_keys, ...request?.fallback_keys })) {
    assert(id.startsWith("signed_curve25519:"));
    assert(verifySignedJson(vodozemac, key as unknown as JsonObject, signer), id);
  }
  assert(verifySignedJson(vodozemac, { ...peer.keys.deviceKeys() }, signer));
  const [fallback] = Object.values(request?.fallback_keys ?? {});
  assert(typeof fallback === "object" && fallback.fallback === true);
});

Deno.test("keys are signed once: what the server answers makes no more signatures", async () => {
  const peer = await fresh();
  const { account } = peer.keys;
  const sign = account.sign.bind(account);
  let count = 0;
  account.sign = (object) => (count++, sign(object));
  const request = peer.keys.nextUpload();
  assertEquals(count, 51);
  await peer.step((tx) => peer.keys.receiveUpload(tx, request ?? {}, { one_time_key_counts: {} }));
  assertEquals([count, peer.keys.nextUpload()], [51, undefined]);
});

Deno.test("an upload without an answer is the same after a restart, byte for byte (C1, C2)", async () => {
  const peer = await fresh();
  const before = JSON.stringify(peer.keys.nextUpload());
  await peer.restart();
  assertEquals(JSON.stringify(peer.keys.nextUpload()), before);
  await counts(peer, 0, []);
  assertEquals(
    JSON.stringify(peer.keys.nextUpload()),
    before,
    "more keys were made while some are unpublished",
  );
});

Deno.test("keys of a step that came to nothing are not uploaded", async () => {
  const peer = await fresh();
  await peer.upload();
  await peer.crash((tx) => peer.keys.receiveCounts(tx, { signed_curve25519: 10 }, ["signed_curve25519"]));
  assertEquals(peer.keys.nextUpload(), undefined);
  await peer.step(async (tx) => {
    await peer.keys.receiveCounts(tx, { signed_curve25519: 10 }, ["signed_curve25519"]);
    assertEquals(peer.keys.nextUpload(), undefined, "within the step they are not durable");
  });
  assertEquals(oneTimeKeyIds(peer.keys.nextUpload()).length, 40);
});

Deno.test("an aborted step leaves the account as it was, without a restart", async () => {
  const peer = await fresh();
  await peer.upload();
  await assertRejects(() =>
    peer.step(async (tx) => {
      await peer.keys.receiveCounts(tx, {}, ["signed_curve25519"]);
      throw new TypeError("no");
    })
  );
  assertEquals(peer.keys.nextUpload(), undefined);
  await counts(peer, 49);
  assertEquals(oneTimeKeyIds(peer.keys.nextUpload()).length, 1);
});

Deno.test("keys that the server has are uploaded once, identity keys too", async () => {
  const peer = await fresh();
  await peer.upload();
  assertEquals(peer.keys.nextUpload(), undefined);
  await counts(peer, 20);
  const second = await peer.upload();
  assertEquals(oneTimeKeyIds(second).length, 30);
  assertEquals(second?.device_keys, undefined);
  assertEquals(fallbackIds(second), []);
  assertEquals(peer.keys.nextUpload(), undefined);
  await peer.restart();
  assertEquals(peer.keys.nextUpload(), undefined);
});

Deno.test("a server that says it has none after taking fifty is not given more until the next sync", async () => {
  const peer = await fresh();
  const request = peer.keys.nextUpload() ?? {};
  await peer.step((tx) => peer.keys.receiveUpload(tx, request, { one_time_key_counts: {} }));
  assertEquals(peer.keys.nextUpload(), undefined);
});

Deno.test("the counts in an answer fill up what is still missing", async () => {
  const peer = await fresh();
  await peer.upload();
  await counts(peer, 49);
  const request = peer.keys.nextUpload() ?? {};
  const response = { one_time_key_counts: { signed_curve25519: 5 } };
  await peer.step((tx) => peer.keys.receiveUpload(tx, request, response));
  assertEquals(oneTimeKeyIds(peer.keys.nextUpload()).length, 45);
});

Deno.test("the answer to an upload of other keys marks nothing as published", async () => {
  const peer = await fresh();
  const other = await fresh();
  await peer.upload();
  await other.upload();
  await counts(peer, 30);
  await counts(other, 30);
  const stale = other.keys.nextUpload() ?? {};
  const before = peer.keys.nextUpload();
  await peer.step((tx) => peer.keys.receiveUpload(tx, stale, { one_time_key_counts: {} }));
  assertEquals(peer.keys.nextUpload(), before);
});

Deno.test("the fallback key is replaced when it was used, at most once an hour, and weekly", async () => {
  const peer = await fresh();
  const [first] = fallbackIds(await peer.upload());
  await counts(peer, 50, []);
  assertEquals(peer.keys.nextUpload(), undefined, "within the first hour");
  await peer.clock.tick(HOUR);
  await counts(peer, 50, undefined);
  assertEquals(peer.keys.nextUpload(), undefined, "a server without fallback keys");
  await counts(peer, 50);
  assertEquals(peer.keys.nextUpload(), undefined, "it is unused");
  await counts(peer, 50, []);
  const [second] = fallbackIds(await peer.upload());
  assert(second !== undefined && second !== first);
  await counts(peer, 50, []);
  assertEquals(peer.keys.nextUpload(), undefined, "twice in an hour");
  await peer.clock.tick(7 * 24 * HOUR);
  await counts(peer, 50);
  assertEquals(fallbackIds(peer.keys.nextUpload()).length, 1);
});

Deno.test("a message for the fallback key before is read for an hour after the new one was published (S16)", async () => {
  const { alice, bob, server, clock } = await aliceAndBob();
  server.of(bob.userId, bob.deviceId).oneTimeKeys.clear();
  await alice.meet(bob);
  const first = await alice.send(bob, { n: 1 });
  const mallory = await Peer.open({ userId: "@mallory:example.org", deviceId: "M", server, clock });
  await mallory.meet(bob);
  const late = await mallory.send(bob, { n: 2 });
  await clock.tick(HOUR);
  await counts(bob, 50, []);
  await bob.upload();
  await clock.tick(HOUR - 1);
  await counts(bob, 50);
  assertEquals(await bob.read(first), { n: 1 });
  await clock.tick(1);
  await counts(bob, 50);
  assertEquals((await bob.receive(late)).kind, "failed");
});

Deno.test("a clock that was set back by a year does not stop the fallback key from being replaced", async () => {
  const peer = await fresh();
  await peer.upload();
  const earlier = await Peer.unpublished({ ...USER, store: peer.store });
  assert(earlier.clock.now() === peer.clock.now());
  await peer.clock.tick(365 * 24 * HOUR);
  await counts(peer, 50, []);
  await peer.upload();
  const back = await Peer.unpublished({ ...USER, store: await peer.snapshot() });
  await counts(back, 50, []);
  assertEquals(fallbackIds(back.keys.nextUpload()).length, 1);
});

Deno.test("the start-up check distinguishes a server with the keys, one that lost them, and one with others", async () => {
  const peer = await fresh();
  const other = await fresh();
  const check = (shown: Parameters<typeof peer.keys.checkServer>[1]) =>
    peer.step((tx) => peer.keys.checkServer(tx, shown));
  assertEquals(await check("missing"), "upload");
  await peer.upload();
  assertEquals(await check(peer.keys.deviceKeys()), "same");
  assertEquals(peer.keys.nextUpload(), undefined);
  assertEquals(await check("missing"), "upload");
  assertEquals(peer.keys.nextUpload(), { device_keys: peer.keys.deviceKeys() });
  await peer.restart();
  assertEquals(peer.keys.nextUpload(), { device_keys: peer.keys.deviceKeys() });
  assertEquals(await check(other.keys.deviceKeys()), "differs");
  assertEquals(
    await check({ ...peer.keys.deviceKeys(), keys: null } as unknown as ReturnType<
      typeof peer.keys.deviceKeys
    >),
    "differs",
  );
});

Deno.test("identity keys that the server shows are not uploaded, if they are the same", async () => {
  const peer = await fresh();
  await peer.step((tx) => peer.keys.checkServer(tx, peer.keys.deviceKeys()));
  const request = peer.keys.nextUpload();
  assertEquals(request?.device_keys, undefined);
  assertEquals(oneTimeKeyIds(request).length, 50);
});

Deno.test("a store of another user or of another device is refused with its own error", async () => {
  const peer = await fresh();
  for (const whose of [{ ...USER, deviceId: "OTHER" }, { ...USER, userId: "@eve:example.org" as const }]) {
    const error = await assertRejects(
      () => Peer.unpublished({ ...whose, store: peer.store }),
      EncryptionError,
      "the store holds those of @alice:example.org, device ALICE; give each device a store of its own",
    );
    assert(error.message.includes(whose.userId) && error.message.includes(whose.deviceId));
  }
});

/** Puts another account in the place of the one that is kept, and restarts. */
async function restartWith(peer: Peer, change: (record: AccountRecord) => AccountRecord): Promise<void> {
  await peer.step(async (tx) => {
    const record = await tx.get(accountKey());
    assert(record !== undefined);
    tx.set(accountKey(), change(record));
  });
  await peer.restart();
}

Deno.test("a start does not restore the account; a damaged one fails with a clear error at its first use", async () => {
  const peer = await fresh();
  await peer.upload();
  const [own, deviceKeys] = [peer.keys.own, peer.keys.deviceKeys()];
  await restartWith(peer, (record) => ({ ...record, state: new Uint8Array(40) }));
  assertEquals([peer.keys.own, peer.keys.deviceKeys()], [own, deviceKeys]);
  await counts(peer, 50);
  assertEquals(peer.keys.nextUpload(), undefined);
  await assertRejects(() => counts(peer, 49), EncryptionError, "the store is damaged");
});

Deno.test("the account's record stays small", async () => {
  const peer = await fresh();
  await peer.upload();
  const size = async () => {
    const record = await peer.step((tx) => tx.get(accountKey()));
    return (record?.state.length ?? 0) + (record?.oneTimeKeys.length ?? 0);
  };
  assert(await size() < 8_000, String(await size()));
  for (let round = 0; round < 15; round++) {
    await counts(peer, 0);
    await peer.upload();
  }
  assert(await size() < 40_000, String(await size()));
});
